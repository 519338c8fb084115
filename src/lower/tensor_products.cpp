// The statements of a tile of tensor cores.
//
// Operands are matrices in shared memory that the instruction is told of. What it has to be told, which side
// is dense and how far parts lie apart, is read off the addresses that elements of the tile have.

#include "lower/tensor_products.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"

namespace calotype::lower {
namespace {

constexpr std::int64_t kRows = 64, kGroup = 128;  // of four warps: rows of the result, and threads
constexpr std::int64_t kCore = 8;                 // rows of 16 bytes that lie together

class TileProducts {
 public:
  TileProducts(const LoopTree& tree, const Addresses& addresses, StageRef stage,
               const std::vector<LoopId>& open)
      : tree_(tree), addresses_(addresses), stage_(stage), open_(open), tile_(tree.tensor_tiles.at(stage)) {}

  ir::Stmt run() {
    a_ = matrix(tile_.a, tile_.m, tile_.rows);
    b_ = matrix(tile_.b, tile_.n, tile_.columns);
    std::vector<ir::Stmt> products;
    along_k(0, {}, products);
    ir::Stmt all = ir::block(std::move(products));
    return group_ ? ir::let_stmt(group_, group_of_thread(), std::move(all)) : all;
  }

 private:
  /// Of four warps. All threads of a warp are in one, which the shuffle says.
  Expr group() {
    if (tile_.groups == 1) return ir::index(0);
    if (!group_) group_ = ir::make_symbol(ir::SymbolKind::Let, "group");
    return ir::make_var(group_);
  }
  Expr group_of_thread() const {
    const Expr own = ir::make_var(tree_.loop(tile_.thread).var) / ir::index(kGroup);
    return ir::make(ir::Op::Shuffle, own->type, {own, ir::make_int(Int(32), 0)});
  }

  // ---- Where elements are

  using Values = std::vector<std::pair<LoopId, Expr>>;  ///< of the tile's loops; others are 0

  Expr index_of(const Expr& call, const Values& values) const {
    const ir::Substitution dims = tree_.coordinates_of(stage_);
    ir::Substitution loops;
    std::vector<LoopId> all = tile_.k;
    all.insert(all.end(), {tile_.m, tile_.n});
    for (const LoopId id : all) {
      Expr value = ir::index(0);
      for (const auto& [loop, given] : values)
        if (loop == id) value = given;
      loops.emplace_back(tree_.loop(id).var, tree_.loop(id).min + value);
    }
    std::vector<Expr> coordinates;
    for (const Expr& arg : call->args)
      coordinates.push_back(ir::simplify(ir::substitute(ir::substitute(arg, dims), loops), tree_.facts));
    return addresses_.of(func_of(call), buffer_of(call), coordinates, stage_, open_);
  }

  static FuncId func_of(const Expr& call) { return FuncId{ir::callee_of(call)->index}; }
  const ir::BufferPtr& buffer_of(const Expr& call) const {
    return tree_.storage.at(func_of(call)).buffers.front();
  }

  /// Elements from the first of the tile to another one; none where that is no constant.
  std::optional<std::int64_t> distance(const Expr& call, LoopId side, std::int64_t row,
                                       std::int64_t k) const {
    const Expr there = index_of(call, {{side, ir::index(row)}, {tile_.k.back(), ir::index(k)}});
    return ir::as_int(ir::simplify(there - index_of(call, {}), tree_.facts));
  }

  // ---- What the instruction is told

  ir::OperandUse matrix(const Expr& call, LoopId side, std::int64_t rows) const {
    const ir::BufferPtr& buffer = buffer_of(call);
    const std::int64_t size = buffer->type.bytes(), width = buffer->swizzle / size;
    if (width == 0)
      refuse(call, "is not swizzled", "swizzle(128), (64) or (32) with rows of that many bytes");
    const auto at = [&](std::int64_t row, std::int64_t k) {
      return distance(call, side, row, k).value_or(-1);
    };
    ir::OperandUse use{.buffer = buffer, .swizzle = buffer->swizzle, .leading = 16};
    if (at(0, 1) == 1) {
      use.stride = at(kCore, 0) * size;
      for (std::int64_t row = 1; row < rows; row += row < kCore ? 1 : kCore)
        require(call, at(row, 0) == row / kCore * at(kCore, 0) + row % kCore * width);
      require(call, tile_.depth <= width || at(0, width) % (kCore * width) == 0);
      return use;
    }
    use.transposed = true;
    require(call, at(1, 0) == 1 && at(0, 1) == width);
    if (size != 2)
      refuse(call, fmt::format("has its rows along '{}', and elements of {} bytes", name(side), size),
             fmt::format("memory in which what is summed is innermost, by reorder_storage or layout on '{}'",
                         tree_.func(func_of(call)).name));
    use.stride = at(0, kCore) * size;
    if (rows > width) use.leading = at(width, 0) * size;
    for (std::int64_t k = 1; k < tile_.depth; k += k < kCore ? 1 : kCore)
      require(call, at(0, k) == k / kCore * at(0, kCore) + k % kCore * width);
    for (std::int64_t row = width; row < rows; row += width)
      require(call, at(row, 0) == row / width * at(width, 0));
    return use;
  }

  const std::string& name(LoopId loop) const { return tree_.loop(loop).name; }

  void require(const Expr& call, bool holds) const {
    if (holds) return;
    const ir::BufferPtr& buffer = buffer_of(call);
    refuse(
        call, "does not lie in memory as the instruction reads it",
        fmt::format("rows of {} bytes, {} elements, one behind the other: along what is summed, or along the "
                    "other side; wider tiles as panels of such rows, by layout",
                    buffer->swizzle, buffer->swizzle / buffer->type.bytes()));
  }

  [[noreturn]] void refuse(const Expr& call, const std::string& why, std::string legal) const {
    const std::string& operand = tree_.func(func_of(call)).name;
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format("the operand '{}' {}", operand, why),
                 .func = tree_.func(stage_.func).name,
                 .stage = lang::stage_name(tree_.func(stage_.func), stage_.stage),
                 .directive = tree_.schedule_of(stage_).tensor_core->origin,
                 .value = operand,
                 .legal = std::move(legal)});
  }

  // ---- Products

  void along_k(std::size_t loop, Values at, std::vector<ir::Stmt>& products) {
    const bool last = loop + 1 == tile_.k.size();
    const LoopId id = tile_.k[loop];
    const std::int64_t step = last ? tile_.record->loops[0].second : 1;
    const std::int64_t end = *ir::constant_upper_bound(tree_.loop(id).extent, tree_.facts);
    for (std::int64_t k = 0; k < end; k += step) {
      Values here = at;
      here.emplace_back(id, ir::index(k));
      if (!last) {
        along_k(loop + 1, std::move(here), products);
        continue;
      }
      for (std::int64_t i = 0; i < tile_.products_along_m(); ++i)
        for (std::int64_t j = 0; j < tile_.products_along_n(); ++j) products.push_back(product(here, i, j));
    }
  }

  /// Whether the product is added to what its sums are.
  Expr adds(const Values& at) const {
    const bool first =
        tile_.sets && std::all_of(at.begin(), at.end(), [](const auto& k) { return ir::is_zero(k.second); });
    if (!first) return ir::make_one(Bool());
    Expr later = ir::make_zero(Bool());
    for (const LoopId id : *tile_.sets)
      later = later || ir::make_var(tree_.loop(id).var) != tree_.loop(id).min;
    return ir::simplify(later, tree_.facts);
  }

  ir::Stmt product(Values at, std::int64_t i, std::int64_t j) {
    const Expr added = adds(at);
    const std::int64_t registers = tile_.record->operands[0].layouts[0].size(layout::Axis::Register);
    at.emplace_back(tile_.m, ir::index(i * kRows * tile_.groups) + group() * ir::index(kRows));
    at.emplace_back(tile_.n, ir::index(j * tile_.record->loops[1].second));
    const ir::BufferPtr& sums = tree_.storage.at(stage_.func).buffers.front();
    return ir::instruction({tile_.record, tile_.record->name, {{sums}, a_, b_}},
                           {ir::index((i * tile_.products_along_n() + j) * registers), index_of(tile_.a, at),
                            index_of(tile_.b, at), added});
  }

  const LoopTree& tree_;
  const Addresses& addresses_;
  const StageRef stage_;
  const std::vector<LoopId>& open_;
  const TensorTile& tile_;
  ir::OperandUse a_, b_;
  ir::SymbolPtr group_;  ///< null: not used
};

}  // namespace

ir::Stmt multiply_tile(const LoopTree& tree, const Addresses& addresses, StageRef stage,
                       const std::vector<LoopId>& open) {
  return TileProducts(tree, addresses, stage, open).run();
}

}  // namespace calotype::lower
