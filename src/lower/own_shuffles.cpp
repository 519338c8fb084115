// Shuffles by which a thread gets what it has itself: of unrolled loops and vectors only some copies read
// other lanes.
//
// Requires: a kernel with its threads bound and its loops expanded. Leaves: loads in place of such shuffles.
// The first to know the lane of a thread as an expression of its position.

#include "lower/passes.h"
#include "schedule/gpu.h"

namespace calotype::lower {
namespace {

/// The lane of the thread at hand in its warp; undefined where it follows from what nothing else has asked
/// for.
Expr own_lane(const Function& kernel) {
  Expr thread = ir::index(0);
  std::int64_t threads = 1;
  for (std::size_t axis = 0; axis < kernel.block.size(); ++axis) {
    const std::int64_t extent = ir::as_int(kernel.block[axis]).value_or(0);
    if (kernel.thread_vars[axis])
      thread = thread + ir::make_var(kernel.thread_vars[axis]) * ir::index(threads);
    else if (extent != 1 && threads % schedule::warp_lanes != 0)
      return {};
    threads *= extent;
  }
  return threads > schedule::warp_lanes ? thread % ir::index(schedule::warp_lanes) : thread;
}

}  // namespace

ir::Stmt drop_own_shuffles(const Function& kernel, ir::Facts facts) {
  const Expr lane = own_lane(kernel);
  if (!lane.defined()) return kernel.body;
  const Expr own = ir::simplify(lane, facts);
  return ir::rewrite_exprs(kernel.body, [&](const Expr& root) {
    if (!root.defined()) return root;
    return ir::rewrite(root, [&](const Expr& e) -> Expr {
      if (!ir::is(e, ir::Op::Shuffle) || e->type.is_vector() || !ir::is(e->args[0], ir::Op::Load)) return e;
      const Expr &load = e->args[0], &from = e->args[1];
      const bool sometimes = ir::is(from, ir::Op::Select) && ir::as_int(from->args[2]) == -1;
      if (!sometimes) return ir::prove_equal(from, own, facts) ? load : e;
      facts.assume(from->args[0]);
      const bool is_own = ir::prove_equal(ir::simplify(from->args[1], facts), own, facts);
      facts.drop_assumption();
      if (!is_own) return e;
      return ir::make(ir::Op::LoadIf, load->type, {from->args[0], load->args[0]}, load->attr);
    });
  });
}

}  // namespace calotype::lower
