// Sliding windows: a Func stored outside a serial loop and computed inside it produces at each iteration only
// what earlier iterations have not, and its storage becomes a ring where what is live at once is bounded.
//
// Called by infer_bounds for each such Func, because the smaller region is what its producers then have to
// cover. Requires: the region at the compute site (`box`) and at the store site (`storage.box`). Leaves: the
// region to produce in `box`, ring depths in `storage.folds`. Storage folding is this depth on the allocation
// and nothing else; the emit pass turns coordinates into slots. The depth is a power of two, or what
// fold_storage asks for if what is alive fits.
//
// Without a directive a dimension slides along a loop v if its ends never move backwards as v advances and no
// other dimension's ends depend on v: then everything between min(v) and max(v - 1) is already there. With
// `slide` it does so along all loops that a coordinate of a consumer was split into, as if they were one.

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lower/passes.h"
#include "schedule/scan.h"

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
    if (sched_.slide) return run_along(*sched_.slide);
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
          loop.binding == ir::Binding::GpuThread || loop.binding == ir::Binding::GpuCluster)
        refuse(loop);
      if (loop.binding != ir::Binding::Serial || may_be_skipped(loop)) break;
      std::optional<std::size_t> d = sliding_dim(loop, slid);
      if (!d) continue;
      fold_dim = *d;
      fold_live = live_bound(*d).value_or(0);
      slide(*d, loop);
      slid[*d] = true;
    }
    const bool any = std::find(slid.begin(), slid.end(), true) != slid.end();
    const std::optional<schedule::Scan> scan = schedule::folded_scan(tree_.scheduled, func_);
    for (const schedule::DimNumber& fold : sched_.storage.folds)
      if (!scan || scan->dim != fold.dim) fold_as_asked(fold, whole, any, fold_dim);
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

  /// Where stages share a loop, one that does not cover all of it runs in some iterations only, and with it
  /// what is computed inside its own loops.
  bool may_be_skipped(const LoopInfo& loop) const {
    return !loop.sharers.empty() && tree_.loop(sched_.compute.loop).sharers.empty();
  }

  // ---- Along a coordinate of the consumer

  void run_along(const schedule::Slide& along) {
    const std::vector<LoopId> loops = loops_along(along);
    const std::size_t d = moving_dim(along, loops);
    Box whole = box_;
    whole[d] = {expanded(box_[d].min), ahead(along, loops, d)};
    for (std::size_t i = 0; i < loops.size(); ++i)
      for (const auto& [end, name] : {std::pair{whole[d].min, "start"}, {whole[d].max, "end"}})
        if (!advances_over(end, loops, i))
          refuse_slide(along, fmt::format("it is not proved that the {} of what is needed, {}, never moves "
                                          "backwards along '{}'",
                                          name, ir::to_string(end), tree_.loop(loops[i]).name));
    Expr min = whole[d].min;
    for (std::size_t i = loops.size(); i-- > 0;) {
      const LoopInfo& loop = tree_.loop(loops[i]);
      const Expr fresh = simple(max(before(whole[d].max, loops, i) + ir::index(1), whole[d].min));
      min = ir::make(ir::Op::Select, Int(64), {ir::make_var(loop.var) > loop.min, fresh, min});
    }
    box_[d] = {min, whole[d].max};
    for (const schedule::DimNumber& fold : sched_.storage.folds) {
      if (static_cast<std::size_t>(fold.dim) == d && !together(loops))
        refuse_fold(fold, "loops along other coordinates run between those that the window moves over",
                    "no such loops between, or no fold_storage");
      fold_as_asked(fold, whole, true, d);
    }
    const Expr live = simple(whole[d].max - whole[d].min + ir::index(1));
    const std::optional<std::int64_t> most = ir::constant_upper_bound(live, tree_.facts);
    if (sched_.storage.folds.empty() && most && *most > 0 && together(loops)) fold_storage(d, *most);
  }

  /// The loops between the sites, innermost first.
  std::vector<LoopId> loops_between() const {
    std::vector<LoopId> between;
    for (LoopId id : site_loops(tree_, sched_.compute)) {
      if (sched_.store.kind == Place::Kind::At && id == sched_.store.loop) break;
      between.push_back(id);
    }
    return between;
  }

  /// Those of them that the coordinate was split into, innermost first.
  std::vector<LoopId> loops_along(const schedule::Slide& along) const {
    const std::vector<LoopId> parts = parts_of(along, along.dim), around = site_loops(tree_, sched_.compute),
                              between = loops_between();
    std::vector<LoopId> loops;
    for (LoopId id : around) {
      if (std::find(parts.begin(), parts.end(), id) == parts.end()) continue;
      const LoopInfo& loop = tree_.loop(id);
      if (std::find(between.begin(), between.end(), id) == between.end())
        refuse_slide(along,
                     fmt::format("'{}' is stored inside the loop '{}'", tree_.func(func_).name, loop.name));
      if (loop.binding != ir::Binding::Serial && loop.binding != ir::Binding::Unrolled)
        refuse_slide(along, fmt::format("the loop '{}' is {}, so that no iteration comes before another",
                                        loop.name, ir::to_string(loop.binding)));
      if (may_be_skipped(loop))
        refuse_slide(along, fmt::format("the loop '{}' is shared, and '{}' is computed inside a loop that is "
                                        "not",
                                        loop.name, tree_.func(func_).name));
      loops.push_back(id);
    }
    if (loops.empty())
      refuse_slide(along, fmt::format("'{}' is computed outside every loop of '{}'", tree_.func(func_).name,
                                      tree_.scheduled.loop(along.dim).name));
    return loops;
  }

  std::vector<LoopId> parts_of(const schedule::Slide& along, LoopId loop) const {
    for (const schedule::Transform& t : tree_.schedule_of({along.func, along.stage}).transforms) {
      if (t.kind == schedule::Transform::Kind::Fuse && (t.inner == loop || t.outer == loop))
        refuse_slide(along, fmt::format("the loop '{}' was fused into '{}'", tree_.scheduled.loop(loop).name,
                                        tree_.scheduled.loop(t.fused).name));
      if (t.kind != schedule::Transform::Kind::Split || t.old != loop) continue;
      std::vector<LoopId> parts = parts_of(along, t.inner);
      for (LoopId id : parts_of(along, t.outer)) parts.push_back(id);
      return parts;
    }
    return {tree_.scheduled.shared_loop(loop)};
  }

  /// The one dimension that depends on the loops, and on no other between the sites.
  std::size_t moving_dim(const schedule::Slide& along, const std::vector<LoopId>& loops) {
    const auto uses_any = [&](std::size_t d, const std::vector<LoopId>& ids) {
      const Expr low = expanded(box_[d].min), high = expanded(box_[d].max);
      return std::any_of(ids.begin(), ids.end(), [&](LoopId id) {
        return ir::uses(low, tree_.loop(id).var) || ir::uses(high, tree_.loop(id).var);
      });
    };
    std::vector<LoopId> others = loops_between();
    std::erase_if(others,
                  [&](LoopId id) { return std::find(loops.begin(), loops.end(), id) != loops.end(); });
    std::vector<std::size_t> moving;
    for (std::size_t d = 0; d < box_.size(); ++d)
      if (uses_any(d, loops)) moving.push_back(d);
    if (moving.size() != 1)
      refuse_slide(along, fmt::format("what is needed of '{}' depends on the loops along {} coordinates, not "
                                      "one",
                                      tree_.func(func_).name, moving.size()));
    if (uses_any(moving[0], others))
      refuse_slide(along,
                   "what is needed depends along the same coordinate on other loops between where it "
                   "is stored and computed");
    return moving[0];
  }

  /// The last coordinate that is computed: what is needed some iterations later, but no more than ever is.
  Expr ahead(const schedule::Slide& along, const std::vector<LoopId>& loops, std::size_t d) {
    const Expr last = expanded(box_[d].max), v = ir::make_var(tree_.loop(loops[0]).var);
    if (along.depth == 0) return last;
    const Expr later = simple(ir::substitute(last, {{tree_.loop(loops[0]).var, v + ir::index(along.depth)}}));
    const std::optional<std::int64_t> more = ir::constant_lower_bound(simple(later - last), tree_.facts);
    if (!more || *more < 0)
      refuse_slide(along, fmt::format("it is not proved that {} iterations later no less is needed than {}",
                                      along.depth, ir::to_string(last)));
    return simple(min(later, storage_.box[d].max));
  }

  /// Its value in the iteration before, where loop `i` has advanced and those inside it start again.
  Expr before(Expr e, const std::vector<LoopId>& loops, std::size_t i) {
    for (std::size_t j = 0; j < i; ++j) {
      const LoopInfo& inner = tree_.loop(loops[j]);
      e = ir::substitute(e, {{inner.var, inner.min + inner.extent - ir::index(1)}});
    }
    const Expr v = ir::make_var(tree_.loop(loops[i]).var);
    return simple(ir::substitute(e, {{tree_.loop(loops[i]).var, v - ir::index(1)}}));
  }

  bool advances_over(const Expr& e, const std::vector<LoopId>& loops, std::size_t i) {
    Expr now = e, last = e;
    for (std::size_t j = 0; j < i; ++j) {
      const LoopInfo& inner = tree_.loop(loops[j]);
      now = ir::substitute(now, {{inner.var, inner.min}});
      last = steady(last, inner);
    }
    now = steady(simple(now), tree_.loop(loops[i]));
    last = steady(last, tree_.loop(loops[i]));
    const std::optional<std::int64_t> step =
        ir::constant_lower_bound(simple(now - before(last, loops, i)), tree_.facts);
    return step && *step >= 0;
  }

  /// Whether no other loop runs between them: then all that is needed in one iteration of the innermost one
  /// is needed of the same window.
  bool together(const std::vector<LoopId>& loops) const {
    const std::vector<LoopId> between = loops_between();
    const auto first = std::find(between.begin(), between.end(), loops.front());
    return static_cast<std::size_t>(between.end() - first) >= loops.size() &&
           std::equal(loops.begin(), loops.end(), first);
  }

  [[noreturn]] void refuse_slide(const schedule::Slide& along, std::string message) const {
    throw Error({.kind = ErrorKind::Schedule,
                 .message = std::move(message),
                 .func = tree_.func(func_).name,
                 .directive = along.origin,
                 .value = tree_.scheduled.loop(along.dim).name,
                 .legal = "a coordinate whose serial loops, inside the place of storage, alone move what is "
                          "needed forward; or no slide"});
  }

  // ---- Along single loops

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

  /// What an expression is after the first iteration, if it is no less then: consumers that slide themselves
  /// choose by `first < v`.
  Expr steady(const Expr& e, const LoopInfo& loop) {
    const Expr later = simple(ir::make_var(loop.var) > loop.min);
    return simple(ir::rewrite(e, [&](const Expr& n) {
      if (!ir::is(n, ir::Op::Select) || !ir::equal(simple(n->args[0]), later)) return n;
      return no_less(n->args[1], n->args[2]) ? n->args[1] : n;
    }));
  }

  /// Whether a >= b is proved, case by case.
  bool no_less(const Expr& a, const Expr& b) {
    if (ir::is(b, ir::Op::Select)) return no_less(a, b->args[1]) && no_less(a, b->args[2]);
    const std::optional<std::int64_t> more = ir::constant_lower_bound(simple(a - b), tree_.facts);
    if (more && *more >= 0) return true;
    if (ir::is(b, ir::Op::Max)) return no_less(a, b->args[0]) && no_less(a, b->args[1]);
    return ir::is(a, ir::Op::Max) && (no_less(a->args[0], b) || no_less(a->args[1], b));
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
    if (tree_.scheduled.graph.is_boxed(func_)) return;  // a ring has no strides
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
