// Extents and values of one stage's loops, following its transforms forth and back.
//
// Requires: the region that the stage produces and that for which it reads (StageInfo::need, read). A stage
// that a function computes has no loops and takes all of it at once. Leaves: the stage's loops in
// LoopTree::loops, and dims, coordinates, starts, limits and guards of its StageInfo.

#include <fmt/format.h>

#include <algorithm>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

using schedule::Transform;

class StageLoops {
 public:
  StageLoops(LoopTree& tree, ir::Algebra& algebra, StageRef ref, StageInfo& info)
      : tree_(tree), algebra_(algebra), ref_(ref), info_(info), sched_(tree_.schedule_of(ref)) {}

  void run() {
    start_dims();
    for (const Transform& t : sched_.transforms)
      t.kind == Transform::Kind::Split ? extend_split(t) : extend_fuse(t);
    for (LoopId id : sched_.loops) declare_loop(id);
    for (auto t = sched_.transforms.rbegin(); t != sched_.transforms.rend(); ++t)
      t->kind == Transform::Kind::Split ? value_of_split(*t) : value_of_fuse(*t);
    finish_dims();
  }

 private:
  Expr simple(const Expr& e) { return algebra_.simplify(e); }

  void start_dims() {
    const lang::FuncDef& func = tree_.func(ref_.func);
    const lang::StageDef& def = tree_.def(ref_);
    for (int d = 0; d < func.rank(); ++d) {
      info_.dims.push_back(func.args[d]);
      mins_.push_back(info_.need[d].min);
      lasts_.push_back(info_.read[d].max);
      if (sched_.dims[d].valid())
        extents_[sched_.dims[d]] = simple(info_.need[d].max - info_.need[d].min + ir::index(1));
    }
    for (std::size_t r = 0; r < def.reduction.size(); ++r) {
      const lang::ReductionDim& dim = def.reduction[r];
      info_.dims.push_back(dim.symbol);
      mins_.push_back(simple(dim.min));
      lasts_.push_back(simple(dim.min + dim.extent - ir::index(1)));
      extents_[sched_.dims[func.rank() + r]] = simple(dim.extent);
    }
  }

  void extend_split(const Transform& t) {
    const Expr old = extents_.at(t.old), factor = ir::index(t.factor);
    extents_[t.outer] = simple((old + factor - ir::index(1)) / factor);
    extents_[t.inner] = factor;
    if (divides(t)) return;
    if (t.tail == Tail::ShiftInwards) require_room(t, old);
  }

  // Shifting back must not pass the start. At the call only sizes can be checked.
  void require_room(const Transform& t, const Expr& old) {
    const Expr enough = simple(old >= ir::index(t.factor));
    if (ir::is_one(enough) || ir::prove(enough, tree_.facts)) return;
    if (depends_on_loops(tree_, enough) || depends_on_loops(tree_, old))
      throw Error({.kind = ErrorKind::Schedule,
                   .message = fmt::format("{} shifts inwards by up to {}, but the region here may be smaller",
                                          t.origin, t.factor),
                   .func = tree_.func(ref_.func).name,
                   .directive = t.origin,
                   .value = ir::to_string(old),
                   .legal = "guard, predicate"});
    require(tree_, {enough,
                    fmt::format("{} needs an extent of at least {}, not {{}}", t.origin, t.factor),
                    tree_.func(ref_.func).name,
                    {old},
                    fmt::format("at least {}; or another tail", t.factor)});
  }

  bool divides(const Transform& t) {
    return ir::known_multiple(unnamed(extents_.at(t.old)), tree_.facts) % t.factor == 0;
  }

  // The end of a region that was rounded up has a name that says nothing of multiples.
  Expr unnamed(const Expr& e) {
    ir::Substitution values;
    for (const ir::SymbolPtr& s : ir::free_symbols(e))
      if (const ir::Facts::Known* known = tree_.facts.find(s); known && known->value.defined())
        values.emplace_back(s, known->value);
    return ir::substitute(e, values);
  }

  // A guarded inner loop that runs serially just ends earlier, with no branch inside, if what decides where
  // lies outside it.
  bool may_shrink(LoopId inner, const Expr& base) const {
    const LoopInfo& loop = tree_.loop(inner);
    if (loop.binding != ir::Binding::Serial && loop.binding != ir::Binding::Parallel) return false;
    for (const Transform& t : sched_.transforms)
      if (t.old == inner || (t.kind == Transform::Kind::Fuse && (t.inner == inner || t.outer == inner)))
        return false;
    for (LoopId id : sched_.loops) {  // innermost first
      if (id == inner) break;
      if (ir::uses(base, tree_.loop(id).var)) return false;
    }
    return true;
  }

  void extend_fuse(const Transform& t) {
    extents_[t.fused] = simple(extents_.at(t.outer) * extents_.at(t.inner));
  }

  void declare_loop(LoopId id) {
    LoopInfo& loop = tree_.loop(id);
    loop.owner = ref_;
    loop.var = ir::make_symbol(ir::SymbolKind::Loop, loop.name);
    auto dim = std::find(sched_.dims.begin(), sched_.dims.end(), id);
    loop.min = dim == sched_.dims.end() ? ir::index(0) : mins_[dim - sched_.dims.begin()];
    loop.extent = extents_.at(id);
    values_[id] = simple(ir::make_var(loop.var) - loop.min);
    tree_.facts.set_range(loop.var, loop.min, simple(loop.min + loop.extent - ir::index(1)));
  }

  void value_of_split(const Transform& t) {
    const Expr old = extents_.at(t.old), factor = ir::index(t.factor);
    Expr base = values_.at(t.outer) * factor;
    if (divides(t)) {
      if (const std::optional<std::size_t> d = pure_dim(t.old); d && t.tail == Tail::PredicateLoads) {
        const Expr read = simple(info_.read[*d].max - info_.read[*d].min + ir::index(1));
        if (!ir::prove_equal(read, old, tree_.facts)) guard(t, simple(base + values_.at(t.inner) < read));
      }
    } else {
      // A region that was rounded up divides; what a window slid over or an inner loop covers need not.
      if (t.tail == Tail::PredicateLoads) refuse_stores_past_end(t);
      if (t.tail == Tail::ShiftInwards)
        base = min(base, old - factor);
      else if (t.tail == Tail::Guard && may_shrink(t.inner, base))
        tree_.loop(t.inner).extent = simple(min(factor, old - base));
      else
        guard(t, simple(base + values_.at(t.inner) < old));
    }
    values_[t.old] = simple(base + values_.at(t.inner));
  }

  [[noreturn]] void refuse_stores_past_end(const Transform& t) const {
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format("{} would store past the end, where there is no room for what is "
                                        "covered here",
                                        t.origin),
                 .func = tree_.func(ref_.func).name,
                 .stage = lang::stage_name(tree_.func(ref_.func), ref_.stage),
                 .directive = t.origin,
                 .value = "predicate_loads",
                 .legal = "guard, predicate"});
  }

  /// Masks of stores alone leave what is read past the end.
  void guard(const Transform& t, const Expr& condition) {
    info_.guards.push_back({condition, t.tail, t.origin});
    if (t.tail != Tail::PredicateStores) guarded_.push_back(t.old);
  }

  std::optional<std::size_t> pure_dim(LoopId loop) const {
    for (std::size_t d = 0; d < info_.need.size(); ++d)
      if (sched_.dims[d] == loop) return d;
    return std::nullopt;
  }

  void value_of_fuse(const Transform& t) {
    const Expr inner = extents_.at(t.inner);
    values_[t.outer] = simple(values_.at(t.fused) / inner);
    values_[t.inner] = simple(values_.at(t.fused) % inner);
    for (LoopId part : {t.outer, t.inner})
      if (ir::is(values_[part], ir::Op::Div) || ir::is(values_[part], ir::Op::Mod))
        tree_.fused_parts.push_back({values_[part], extents_.at(part)});
  }

  void finish_dims() {
    for (std::size_t i = 0; i < info_.dims.size(); ++i) {
      const LoopId id = sched_.dims[i];
      Expr coordinate = id.valid() ? simple(mins_[i] + values_.at(id)) : Expr();
      info_.coordinates.push_back(coordinate);
      info_.starts.push_back(coordinate);
      info_.limits.push_back(is_guarded(id) ? simple(min(coordinate, lasts_[i])) : coordinate);
    }
  }

  /// Whether a guard keeps the values of a loop, or of those that replace it, from passing the last one.
  /// Without one the expression of the value is exact.
  bool is_guarded(LoopId id) const {
    if (!id.valid()) return false;
    if (std::find(guarded_.begin(), guarded_.end(), id) != guarded_.end()) return true;
    for (const Transform& t : sched_.transforms) {
      const bool split = t.kind == Transform::Kind::Split;
      if (split && t.old == id) return is_guarded(t.outer) || is_guarded(t.inner);
      if (!split && (t.inner == id || t.outer == id)) return is_guarded(t.fused);
    }
    return false;
  }

  LoopTree& tree_;
  ir::Algebra& algebra_;
  StageRef ref_;
  StageInfo& info_;
  const schedule::StageSchedule& sched_;
  std::vector<Expr> mins_, lasts_;
  std::map<LoopId, Expr> extents_, values_;
  std::vector<LoopId> guarded_;
};

}  // namespace

namespace {

/// Of a stage that a function computes: no loops, all of its region at once.
void take_whole(const LoopTree& tree, ir::Algebra& algebra, StageRef ref, StageInfo& info) {
  const auto add = [&](const ir::SymbolPtr& dim, const ir::Interval& range) {
    info.dims.push_back(dim);
    info.coordinates.push_back(range.min);
    info.starts.push_back(range.min);
    info.limits.push_back(range.max);
  };
  const lang::FuncDef& func = tree.func(ref.func);
  for (int d = 0; d < func.rank(); ++d) add(func.args[d], info.need[d]);
  for (const lang::ReductionDim& r : tree.def(ref).reduction)
    add(r.symbol, {algebra.simplify(r.min), algebra.simplify(r.min + r.extent - ir::index(1))});
}

}  // namespace

void resolve_loops(LoopTree& tree, ir::Algebra& algebra, StageRef ref, StageInfo& info) {
  if (tree.def(ref).function()) return take_whole(tree, algebra, ref, info);
  StageLoops(tree, algebra, ref, info).run();
}

}  // namespace calotype::lower
