// The order in which the blocks of a kernel take its tiles.
//
// Used where a program is made, once block loops have become variables. Requires: a body in terms of these,
// with everything of the kernel in it. Leaves: one block variable, along x, and names of kind Thread for what
// it stands for: like it they are numbers below that of the tiles, which a launch takes if 31 bits hold it,
// so that they are computed in 32 bits. Barriers stand already, placed with the way from one tile to the next
// in mind.
#include "lower/tile_order.h"

#include <fmt/format.h>

#include "calotype/error.h"
#include "lower/run_roles.h"

namespace calotype::lower {
namespace {

class TileOrder {
 public:
  TileOrder(Function& f, const schedule::StageSchedule& sched, ir::Facts& facts)
      : f_(f), sched_(sched), facts_(facts) {}

  void run() {
    tiles_ = simple(f_.grid[0] * f_.grid[1] * f_.grid[2]);
    tile_ = number("tile", tiles_);
    const auto blocks = f_.block_vars;
    f_.block_vars = {tile_, nullptr, nullptr};
    if (!sched_.persistent_origin.empty()) {
      f_.block_vars[0] = number("block", tiles_);
      f_.resident_blocks = ir::make_symbol(ir::SymbolKind::Thread, "blocks");
      facts_.set_range(f_.resident_blocks, ir::index(1), tiles_);
      f_.body =
          within_roles(f_.body, [&](const ir::Stmt& part) { return tile_after_tile(decoded(part, blocks)); });
    } else {
      f_.body = decoded(f_.body, blocks);
    }
    f_.grid = {tiles_, ir::index(1), ir::index(1)};
  }

 private:
  using BlockVars = std::array<ir::SymbolPtr, 3>;

  ir::Stmt tile_after_tile(const ir::Stmt& body) {
    const Expr first = ir::make_var(f_.block_vars[0]), step = ir::make_var(f_.resident_blocks);
    ir::LoopInfo loop{.var = ir::make_symbol(ir::SymbolKind::Loop, "round"),
                      .origin = sched_.persistent_origin};
    const Expr round = ir::make_var(loop.var), one = ir::index(1);
    const ir::SymbolPtr tile = number("tile", tiles_);
    const ir::Stmt own = ir::substitute(body, {{tile_, ir::make_var(tile)}});
    return ir::for_loop(std::move(loop), ir::index(0), (tiles_ - one - first) / step + one,
                        ir::let_stmt(tile, first + round * step, own));
  }

  Expr simple(const Expr& e) const { return ir::simplify(e, facts_); }

  /// A name for values from 0 to below `count`.
  ir::SymbolPtr number(const std::string& name, const Expr& count) {
    const ir::SymbolPtr symbol = ir::make_symbol(ir::SymbolKind::Thread, name);
    facts_.set_range(symbol, ir::index(0), simple(count - ir::index(1)));
    return symbol;
  }

  /// The body with what the number of a tile stands for.
  ir::Stmt decoded(const ir::Stmt& all, const BlockVars& blocks) {
    blocks_ = blocks;
    const Expr tile = ir::make_var(tile_);
    if (!blocks_[2]) return sched_.raster_strip == 0 ? rows(tile, all) : strips(tile, all);
    const Expr plane = simple(f_.grid[0] * f_.grid[1]);
    const ir::Stmt body = named(2, tile / plane, all);
    return sched_.raster_strip == 0 ? rows(tile % plane, body) : strips(tile % plane, body);
  }

  /// The first axis moves fastest.
  ir::Stmt rows(const Expr& tile, ir::Stmt body) {
    if (!blocks_[1]) return named(0, tile, body);
    return named(0, tile % f_.grid[0], named(1, tile / f_.grid[0], body));
  }

  /// Strips of some tiles along the second axis, the last perhaps of fewer: inside one the second axis moves
  /// fastest.
  ir::Stmt strips(const Expr& tile, ir::Stmt body) {
    const Expr across = f_.grid[0], down = f_.grid[1];
    const ir::SymbolPtr whole = number("strip", down + ir::index(1)), first = number("strip_first", down),
                        width = number("strip_width", down + ir::index(1));
    facts_.set_range(whole, ir::index(1), down);
    facts_.set_range(width, ir::index(1), down);
    const Expr most = ir::make_var(whole), start = ir::make_var(first), wide = ir::make_var(width);
    const Expr inside = tile % (most * across);
    body = named(0, inside / wide, named(1, start + inside % wide, body));
    body = ir::let_stmt(width, min(down - start, most), body);
    body = ir::let_stmt(first, tile / (most * across) * most, body);
    return ir::let_stmt(whole, min(ir::index(sched_.raster_strip), down), body);
  }

  /// Along an axis. The least of the value and the last says what is so, for those who see the value alone.
  ir::Stmt named(int axis, const Expr& value, const ir::Stmt& body) {
    const ir::SymbolPtr symbol = number(blocks_[axis]->name, f_.grid[axis]);
    return ir::let_stmt(symbol, min(value, f_.grid[axis] - ir::index(1)),
                        ir::substitute(body, {{blocks_[axis], ir::make_var(symbol)}}));
  }

  Function& f_;
  const schedule::StageSchedule& sched_;
  ir::Facts& facts_;
  Expr tiles_;
  ir::SymbolPtr tile_;  ///< its number
  BlockVars blocks_;    ///< what it stands for
};

}  // namespace

void order_tiles(Function& f, const LoopTree& tree, StageRef stage, ir::Facts& facts) {
  const schedule::StageSchedule& sched = tree.schedule_of(stage);
  if (sched.persistent_origin.empty() && sched.raster_strip == 0) return;
  if (!f.block_vars[0]) return;  // nothing is to be done, and there is no block loop any more
  if (f.cluster > 1)
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format(
                     "the blocks of '{}' are in clusters, which take the tiles of a grid in its order",
                     tree.func(stage.func).name),
                 .func = tree.func(stage.func).name,
                 .stage = lang::stage_name(tree.func(stage.func), stage.stage),
                 .directive = sched.persistent_origin.empty() ? sched.raster_origin : sched.persistent_origin,
                 .value = fmt::format("clusters of {}", f.cluster),
                 .legal = "no cluster, or neither persistent nor raster"});
  TileOrder(f, sched, facts).run();
}

}  // namespace calotype::lower
