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
    grid_ = f_.grid;
    grid_[0] = simple(grid_[0] / cluster());
    tiles_ = simple(grid_[0] * grid_[1] * grid_[2]);
    tile_ = number("tile", tiles_);
    const auto blocks = f_.block_vars;
    const bool persistent = !sched_.persistent_origin.empty();
    block_ = persistent || f_.cluster > 1 ? number("block", simple(tiles_ * cluster())) : tile_;
    f_.block_vars = {block_, nullptr, nullptr};
    if (persistent) {
      f_.resident_blocks = ir::make_symbol(ir::SymbolKind::Thread, "blocks");
      facts_.set_range(f_.resident_blocks, cluster(), simple(tiles_ * cluster()));
      facts_.set_multiple(f_.resident_blocks, f_.cluster);
      f_.body = within_roles(f_.body, [&](const ir::Stmt& part) {
        return in_cluster([&] { return tile_after_tile(decoded(part, blocks)); });
      });
    } else {
      f_.body = in_cluster([&] {
        const ir::Stmt body = decoded(f_.body, blocks);
        return f_.cluster == 1 ? body : ir::let_stmt(tile_, first_tile(), body);
      });
    }
    f_.grid = {simple(tiles_ * cluster()), ir::index(1), ir::index(1)};
  }

 private:
  using BlockVars = std::array<ir::SymbolPtr, 3>;

  Expr cluster() const { return ir::index(f_.cluster); }
  /// Blocks of a cluster have one tile together.
  Expr first_tile() const { return ir::make_var(block_) / cluster(); }

  /// What `body` makes, with the block's rank in its cluster as a name.
  ir::Stmt in_cluster(const std::function<ir::Stmt()>& body) {
    if (f_.cluster == 1) return body();
    rank_ = number("rank", cluster());
    return ir::let_stmt(rank_, ir::make_var(block_) % cluster(), body());
  }

  ir::Stmt tile_after_tile(const ir::Stmt& body) {
    const Expr first = simple(first_tile()), step = simple(ir::make_var(f_.resident_blocks) / cluster());
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
    const Expr plane = simple(grid_[0] * grid_[1]);
    const ir::Stmt body = named(2, tile / plane, all);
    return sched_.raster_strip == 0 ? rows(tile % plane, body) : strips(tile % plane, body);
  }

  /// The first axis moves fastest.
  ir::Stmt rows(const Expr& tile, ir::Stmt body) {
    if (!blocks_[1]) return named(0, tile, body);
    return named(0, tile % grid_[0], named(1, tile / grid_[0], body));
  }

  /// Strips of some tiles along the second axis, the last perhaps of fewer: inside one the second axis moves
  /// fastest.
  ir::Stmt strips(const Expr& tile, ir::Stmt body) {
    const Expr across = grid_[0], down = grid_[1];
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
    const ir::SymbolPtr symbol = number(blocks_[axis]->name, grid_[axis]);
    const Expr number = ir::make_var(symbol);
    const bool of_cluster = axis == 0 && f_.cluster > 1;
    const Expr block = of_cluster ? number * cluster() + ir::make_var(rank_) : number;
    ir::Stmt inside = ir::substitute(body, {{blocks_[axis], block}});
    if (of_cluster)  // and it is divided by the cluster's size everywhere
      inside = ir::rewrite_exprs(
          inside, [&](const Expr& e) { return e.defined() && ir::uses(e, symbol) ? simple(e) : e; });
    return ir::let_stmt(symbol, min(value, grid_[axis] - ir::index(1)), inside);
  }

  Function& f_;
  const schedule::StageSchedule& sched_;
  ir::Facts& facts_;
  std::array<Expr, 3> grid_;  ///< of tiles
  Expr tiles_;
  ir::SymbolPtr tile_;   ///< its number
  ir::SymbolPtr block_;  ///< of the block that runs
  ir::SymbolPtr rank_;   ///< in its cluster
  BlockVars blocks_;     ///< what it stands for
};

}  // namespace

void order_tiles(Function& f, const LoopTree& tree, StageRef stage, ir::Facts& facts) {
  const schedule::StageSchedule& sched = tree.schedule_of(stage);
  if (sched.persistent_origin.empty() && sched.raster_strip == 0) return;
  if (!f.block_vars[0]) return;  // nothing is to be done, and there is no block loop any more
  if (f.cluster > 1 && !sched.persistent_origin.empty() && tree.kernels.at(stage).roles.empty())
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format("the blocks of '{}' are in clusters, which meet once",
                                        tree.func(stage.func).name),
                 .func = tree.func(stage.func).name,
                 .stage = lang::stage_name(tree.func(stage.func), stage.stage),
                 .directive = sched.persistent_origin,
                 .value = fmt::format("clusters of {}", f.cluster),
                 .legal = "roles, which copy by multicast; or no cluster, or not persistent"});
  TileOrder(f, sched, facts).run();
}

}  // namespace calotype::lower
