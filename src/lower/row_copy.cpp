// A row as the iterations of a loop: where it begins, how far its elements are apart, how many there are.
#include "lower/row_copy.h"

#include <fmt/format.h>

#include <algorithm>

namespace calotype::lower {
namespace {

class Row : CopiedLoops {
 public:
  Row(const LoopTree& tree, StageRef stage, const ir::Stmt& loop)
      : CopiedLoops(tree, stage, "in whole rows", "copy(async)"), loop_(loop), count_(loop->exprs[1]) {}

  ir::Stmt run(bool common, const std::vector<LoopId>& open) {
    if (loop_->loop().binding != ir::Binding::Serial)
      refuse(fmt::format("its innermost loop '{}' is {}", variable()->name,
                         ir::to_string(loop_->loop().binding)),
             variable()->name, "a serial innermost loop, whose iterations are one copy; or copy(async)");
    for (LoopId id : open) require_no_vector(tree_.loop(id).name, tree_.loop(id).binding);
    find(loop_);
    std::vector<Expr> uniform;
    for (const Expr& condition : conditions_)
      if (ir::uses(condition, variable()))
        take(condition);
      else
        uniform.push_back(condition);
    const ir::BufferPtr& to = store_->buffer();
    const Expr &index = store_->exprs[2], &load = store_->exprs[0], &from = load->args.back();
    const Expr to_step = step(index, variable()), from_step = step(from, variable());
    if (!to_step.defined() || !ir::is_one(to_step))
      refuse(fmt::format("the elements of '{}' are no neighbours in its memory", variable()->name),
             to_step.defined() ? ir::to_string(to_step) : ir::to_string(index),
             "the coordinate that has neighbours in memory innermost; or copy(async)");
    // Code for calls whose buffers lie otherwise is made too, with their strides as constants perhaps.
    const ir::BufferPtr& source = ir::buffer_of(load);
    const bool otherwise = source->space == ir::MemorySpace::Argument && !ir::is_one(source->strides[0]);
    if (!from_step.defined() || (ir::as_int(from_step) && !ir::is_one(from_step) && !otherwise))
      refuse(
          fmt::format("the elements that '{}' reads are no neighbours in memory", variable()->name),
          from_step.defined() ? ir::to_string(from_step) : ir::to_string(from),
          "a copy of what lies side by side, with that coordinate innermost; or copy(async), copy(threads)");
    const Expr first = ir::rewrite(load, [&](const Expr& n) { return at(n, variable(), loop_->exprs[0]); });
    uniform.push_back(count_ > ir::index(0));
    return finished(
        ir::bulk_store({to, ring().ring, common}, {.load = first,
                                                   .index = at(index, variable(), loop_->exprs[0]),
                                                   .count = simple(count_),
                                                   .step = from_step,
                                                   .slot = ring().slot}),
        uniform);
  }

 private:
  const ir::SymbolPtr& variable() const { return loop_->loop().var; }

  /// A condition becomes a number of iterations, if it holds for the first ones.
  void take(const Expr& condition) {
    const End end = end_of(condition, variable());
    const Expr first = at(end.room, variable(), loop_->exprs[0]);
    count_ = min(count_, (first + ir::index(end.taken - 1)) / ir::index(end.taken));
  }

  const ir::Stmt& loop_;
  Expr count_;
};

}  // namespace

ir::Stmt row_copy(const LoopTree& tree, StageRef stage, const ir::Stmt& loop, const std::vector<LoopId>& open,
                  const ByOne& by_one) {
  const bool common = std::none_of(
      open.begin(), open.end(), [&](LoopId id) { return tree.loop(id).binding == ir::Binding::GpuThread; });
  const ir::Stmt row = Row(tree, stage, loop).run(common, open);
  return common ? row : by_one(row);
}

}  // namespace calotype::lower
