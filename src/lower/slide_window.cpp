// Sliding windows: a Func stored outside a serial loop and computed inside it produces at each iteration only
// what earlier iterations have not, and its storage becomes a ring where what is live at once is bounded.
//
// Called by infer_bounds for each such Func, because the smaller region is what its producers then have to
// cover. Requires: the region at the compute site (`box`) and at the store site (`storage.box`). Leaves: the
// region to produce in `box`, ring depths in `storage.folds`. Storage folding is this depth on the allocation
// and nothing else; the emit pass turns coordinates into slots. The depth is a power of two, or what
// fold_storage asks for if what is alive fits.
//
// A dimension slides along a loop v if its ends never move backwards as v advances and no other dimension's
// ends depend on v: then everything between min(v) and max(v - 1) is already there.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

using schedule::Place;

class Slider {
 public:
  Slider(LoopTree& tree, FuncId func, Box& box, Storage& storage)
      : tree_(tree),
        algebra_(tree.facts),
        func_(func),
        sched_(tree.scheduled.of(func)),
        box_(box),
        storage_(storage) {}

  void run() {
    storage_.folds.assign(box_.size(), 0);
    const Box whole = box_;
    // An update may write what an earlier iteration has finished: those Funcs are computed anew.
    const bool slides = tree_.func(func_).stages.size() == 1;
    std::vector<bool> slid(box_.size(), false);
    std::size_t fold_dim = 0;    // of the outermost loop slid along
    std::int64_t fold_live = 0;  // values alive at once; 0: not bounded
    for (LoopId id : site_loops(tree_, sched_.compute)) {
      if (!slides || (sched_.store.kind == Place::Kind::At && id == sched_.store.loop)) break;
      const LoopInfo& loop = tree_.loop(id);
      if (loop.binding == ir::Binding::Parallel || loop.binding == ir::Binding::GpuBlock ||
          loop.binding == ir::Binding::GpuThread)
        refuse(loop);
      if (loop.binding != ir::Binding::Serial) break;
      std::optional<std::size_t> d = sliding_dim(loop, slid);
      if (!d) continue;
      fold_dim = *d;
      fold_live = live_bound(*d).value_or(0);
      slide(*d, loop);
      slid[*d] = true;
    }
    const bool any = std::find(slid.begin(), slid.end(), true) != slid.end();
    for (const schedule::DimNumber& fold : sched_.storage.folds) fold_as_asked(fold, whole, any, fold_dim);
    if (sched_.storage.folds.empty() && fold_live > 0) fold_storage(fold_dim, fold_live);
  }

 private:
  [[noreturn]] void refuse(const LoopInfo& loop) {
    const std::string& name = tree_.func(func_).name;
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format(
                     "'{}' is stored outside the {} loop '{}' that it is computed in: its iterations "
                     "would write the same storage at the same time",
                     name, ir::to_string(loop.binding), loop.name),
                 .func = name,
                 .directive = sched_.compute_origin,
                 .value = loop.name,
                 .legal = fmt::format("store_at a loop inside '{}', or compute it outside", loop.name)});
  }

  Expr simple(const Expr& e) { return algebra_.simplify(e); }

  /// With the names defined inside the loops between the sites looked through.
  Expr expanded(Expr e) {
    for (LoopId id : site_loops(tree_, sched_.compute)) {
      const LoopInfo& loop = tree_.loop(id);
      for (auto let = loop.lets.rbegin(); let != loop.lets.rend(); ++let)
        e = ir::substitute(e, {{let->symbol, let->value}});
      if (sched_.store.kind == Place::Kind::At && id == sched_.store.loop) break;
    }
    return simple(e);
  }

  /// What an expression is after the first iteration: consumers that slide themselves choose by `first < v`.
  Expr steady(const Expr& e, const LoopInfo& loop) {
    const Expr later = simple(ir::make_var(loop.var) > loop.min);
    return simple(ir::rewrite(e, [&](const Expr& n) {
      return ir::is(n, ir::Op::Select) && ir::equal(simple(n->args[0]), later) ? n->args[1] : n;
    }));
  }

  std::optional<std::size_t> sliding_dim(const LoopInfo& loop, const std::vector<bool>& slid) {
    std::optional<std::size_t> found;
    for (std::size_t d = 0; d < box_.size(); ++d) {
      const Expr low = expanded(box_[d].min), high = expanded(box_[d].max);
      if (!ir::uses(low, loop.var) && !ir::uses(high, loop.var)) continue;
      if (found || slid[d]) return std::nullopt;
      if (!advances(steady(low, loop), loop) || !advances(steady(high, loop), loop)) return std::nullopt;
      found = d;
    }
    return found;
  }

  // e(v + 1) >= e(v)
  bool advances(const Expr& e, const LoopInfo& loop) {
    const Expr next = ir::substitute(e, {{loop.var, ir::make_var(loop.var) + ir::index(1)}});
    std::optional<std::int64_t> step = ir::constant_lower_bound(simple(next - e), tree_.facts);
    return step && *step >= 0;
  }

  std::optional<std::int64_t> live_bound(std::size_t d) {
    return ir::constant_upper_bound(simple(expanded(box_[d].max) - expanded(box_[d].min) + ir::index(1)),
                                    tree_.facts);
  }

  void slide(std::size_t d, const LoopInfo& loop) {
    const Expr v = ir::make_var(loop.var);
    const Expr previous = ir::substitute(expanded(box_[d].max), {{loop.var, v - ir::index(1)}});
    const Expr fresh = simple(max(steady(previous, loop) + ir::index(1), box_[d].min));
    box_[d].min = ir::make(ir::Op::Select, Int(64), {v > loop.min, fresh, box_[d].min});
  }

  void fold_storage(std::size_t d, std::int64_t live) {
    const std::int64_t depth = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(live)));
    const Expr extent = simple(storage_.box[d].max - storage_.box[d].min + ir::index(1));
    std::optional<std::int64_t> most = ir::constant_upper_bound(extent, tree_.facts);
    if (!most || *most > depth) storage_.folds[d] = depth;
  }

  /// Without a window every iteration computes all it needs. With one, what earlier iterations leave is alive
  /// along the dimension that slides along the outermost loop as far as one iteration needs it, and along
  /// the others everywhere.
  void fold_as_asked(const schedule::DimNumber& fold, const Box& whole, bool any_slid, std::size_t slid_dim) {
    const std::string& dim = tree_.func(func_).args[fold.dim]->name;
    const bool kept = any_slid && slid_dim != static_cast<std::size_t>(fold.dim);
    const ir::Interval& i = (kept ? storage_.box : whole)[fold.dim];
    const Expr live = simple(expanded(i.max) - expanded(i.min) + ir::index(1));
    const std::optional<std::int64_t> most = ir::constant_upper_bound(live, tree_.facts);
    const std::string along = tree_.func(func_).args[slid_dim]->name;
    if (kept && (!most || *most > fold.value))
      refuse_fold(
          fold,
          fmt::format("earlier iterations are kept along '{}', with all there is along '{}'", along, dim),
          fmt::format("fold_storage along '{}', or storage further in", along));
    if (!most)
      refuse_fold(fold, fmt::format("what is alive along '{}' is not bounded: {}", dim, ir::to_string(live)),
                  "a dimension along which one iteration needs a constant number");
    if (*most > fold.value)
      refuse_fold(fold, fmt::format("{} are alive at once along '{}'", *most, dim),
                  fmt::format("at least {}", *most));
    storage_.folds[fold.dim] = fold.value;
  }

  [[noreturn]] void refuse_fold(const schedule::DimNumber& fold, std::string message, std::string legal) {
    throw Error({.kind = ErrorKind::Schedule,
                 .message = std::move(message),
                 .func = tree_.func(func_).name,
                 .directive = fold.origin,
                 .value = std::to_string(fold.value),
                 .legal = std::move(legal)});
  }

  LoopTree& tree_;
  ir::Algebra algebra_;
  FuncId func_;
  const schedule::FuncSchedule& sched_;
  Box& box_;
  Storage& storage_;
};

}  // namespace

void slide_window(LoopTree& tree, FuncId func, Box& box, Storage& storage) {
  Slider(tree, func, box, storage).run();
}

}  // namespace calotype::lower
