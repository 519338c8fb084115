// Tails that compute more than is needed, and the regions that they ask for.
//
// Called by bounds inference for each Func and stage, since a larger region is what its producers have to
// cover, and larger memory what it has. RoundUp enlarges all of it. PredicateLoads goes past the end with
// stores alone: memory is larger, and what is read is not. PredicateStores goes past it with loads alone:
// what is read is more, and memory is not.

#include <fmt/format.h>

#include <algorithm>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

using ir::Interval;
using schedule::Place;
using schedule::Transform;

/// The pure dimension that a split of a stage cuts; none: a part of one, or a reduction.
std::optional<std::size_t> dim_of(const schedule::StageSchedule& stage, const Transform& split,
                                  std::size_t rank) {
  if (split.kind != Transform::Kind::Split) return std::nullopt;
  const auto dim = std::find(stage.dims.begin(), stage.dims.end(), split.old);
  const auto d = static_cast<std::size_t>(dim - stage.dims.begin());
  return d < rank ? std::optional(d) : std::nullopt;
}

/// The end of what loops by `factor` cover.
Expr rounded_end(const LoopTree& tree, const Interval& i, std::int64_t factor) {
  const Expr f = ir::index(factor), one = ir::index(1);
  const Expr extent = ir::simplify(i.max - i.min + one, tree.facts);
  return ir::simplify(i.min + (extent + f - one) / f * f - one, tree.facts);
}

/// A window that slides would take what lies past the end for computed values.
void require_computed_where_stored(const LoopTree& tree, FuncId id, const Transform& t) {
  const Place &compute = tree.scheduled.of(id).compute, &store = tree.scheduled.of(id).store;
  if (compute.kind == store.kind && (compute.kind != Place::Kind::At || compute.loop == store.loop)) return;
  throw Error(
      {.kind = ErrorKind::Schedule,
       .message = fmt::format("'{}' is kept from one iteration to the next, with what {} stores past the end",
                              tree.func(id).name, t.origin),
       .func = tree.func(id).name,
       .directive = t.origin,
       .value = "predicate_loads",
       .legal = "guard, predicate, round_up; or storage where it is computed"});
}

/// Masks of loads alone are honoured or refused.
[[noreturn]] void refuse_stores_past_end(const LoopTree& tree, StageRef ref, const Transform& t,
                                         const char* why) {
  throw Error({.kind = ErrorKind::Schedule,
               .message = fmt::format("{} would store past the end, {}", t.origin, why),
               .func = tree.func(ref.func).name,
               .stage = lang::stage_name(tree.func(ref.func), ref.stage),
               .directive = t.origin,
               .value = "predicate_loads",
               .legal = "guard, predicate"});
}

bool reads(const Expr& e) {
  return ir::any_of(e, [](const Expr& n) { return ir::is(n, ir::Op::Call); });
}

/// The end of what a tail of masked loads stores.
Expr stored_end(const LoopTree& tree, StageRef ref, const Transform& t, const Interval& need,
                const Interval& all) {
  const Expr end = rounded_end(tree, need, t.factor);
  if (ir::prove_equal(end, need.max, tree.facts)) return need.max;
  if (!ir::equal(need.min, all.min) || !ir::equal(need.max, all.max))
    refuse_stores_past_end(tree, ref, t, "where an update of a part of the Func has no room");
  const std::vector<Expr>& lhs = tree.def(ref).lhs;
  if (std::any_of(lhs.begin(), lhs.end(), reads))
    refuse_stores_past_end(tree, ref, t, "at places that it would have to read there");
  return end;
}

}  // namespace

void round_region(const LoopTree& tree, FuncId id, Box& box) {
  for (const schedule::StageSchedule& stage : tree.scheduled.of(id).stages)
    for (const Transform& t : stage.transforms) {
      const std::optional<std::size_t> d = dim_of(stage, t, box.size());
      if (!d) continue;
      Interval& i = box[*d];
      if (t.tail == Tail::RoundUp)
        i.max = rounded_end(tree, i, t.factor);
      else if (t.tail == Tail::ShiftInwards && tree.output_of.count(id) == 0)
        i.max = ir::simplify(max(i.max, i.min + ir::index(t.factor - 1)), tree.facts);
    }
}

Box with_room_past_end(const LoopTree& tree, FuncId id, const Box& box) {
  Box stored = box;
  for (const schedule::StageSchedule& stage : tree.scheduled.of(id).stages)
    for (const Transform& t : stage.transforms) {
      const std::optional<std::size_t> d = dim_of(stage, t, box.size());
      if (!d || t.tail != Tail::PredicateLoads) continue;
      require_computed_where_stored(tree, id, t);
      const Expr end = rounded_end(tree, box[*d], t.factor);
      Expr& last = stored[*d].max;
      last = ir::equal(last, box[*d].max) ? end : ir::simplify(max(last, end), tree.facts);
    }
  return stored;
}

void read_by_tails(const LoopTree& tree, StageRef ref, const Box& all, StageInfo& info) {
  info.read = info.need;
  const schedule::StageSchedule& stage = tree.schedule_of(ref);
  for (const Transform& t : stage.transforms) {
    const std::optional<std::size_t> d = dim_of(stage, t, info.need.size());
    if (!d) continue;
    Interval& need = info.need[*d];
    if (t.tail == Tail::PredicateStores) info.read[*d].max = rounded_end(tree, need, t.factor);
    if (t.tail == Tail::PredicateLoads) need.max = stored_end(tree, ref, t, need, all[*d]);
  }
}

}  // namespace calotype::lower
