// Loops that stages of different Funcs share, by compute_with.
//
// The loops of the two stages are paired from the outermost one in, down to the loop named. Whether the order
// of their bodies breaks a dependence is decided by lowering, which knows what each iteration covers.
#include "schedule/shared.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/places.h"
#include "schedule/readers.h"

namespace calotype::schedule {

namespace {

void refuse(State& state, const SharedReference& r, std::string message, std::string value,
            std::string legal) {
  state.refuse(r.func, r.stage, r.directive, std::move(message), std::move(value), std::move(legal));
}

/// The stage in whose loops this one runs in the end.
StageId outermost_owner(const State& state, StageId stage) {
  for (const SharedNest& nest : state.out.shared)
    if (nest.func == stage.func && nest.stage == stage.stage)
      return outermost_owner(state, {nest.with, nest.with_stage});
  return stage;
}

/// Whether both loops are run in the same manner.
bool alike(const Loop& a, const Loop& b) { return a.binding == b.binding && a.axis == b.axis; }

std::string kind_text(const Loop& loop) {
  return fmt::format("'{}' is {}", loop.name, ir::to_string(loop.binding));
}

/// Whether the stages may share loops at all.
bool fit(State& state, const SharedReference& r, const Place& with) {
  const std::string own = state.stage_name(r.func, r.stage);
  if (with.func == r.func) {
    refuse(state, r,
           fmt::format("{} and {} are stages of one Func, which run one after the other", own,
                       state.stage_name(with.func, with.stage)),
           r.of, "a stage of another Func");
    return false;
  }
  for (const SharedNest& nest : state.out.shared)
    if (nest.func == r.func && nest.stage == r.stage) {
      refuse(state, r, fmt::format("{} shares loops already, by {}", own, nest.origin), r.of,
             "one compute_with a stage; others may be computed with this one");
      return false;
    }
  const StageId owner = outermost_owner(state, {with.func, with.stage});
  if (owner.func != r.func || owner.stage != r.stage) return true;
  refuse(state, r, fmt::format("{} runs in the loops of {} already", r.of, own), r.of,
         "one of the two compute_with");
  return false;
}

void pair_loops(State& state, const SharedReference& r, const Place& with) {
  const std::vector<LoopId>& own = state.loops_of(r.func, r.stage).loops;
  const std::vector<LoopId>& others = state.loops_of(with.func, with.stage).loops;
  const std::string other_name = state.stage_name(with.func, with.stage);
  const auto count =
      static_cast<std::size_t>(others.end() - std::find(others.begin(), others.end(), with.loop));
  if (own.size() < count)
    return refuse(state, r,
                  fmt::format("'{}' is loop {} of {} from the outermost in, but {} has {}", r.loop, count,
                              other_name, state.stage_name(r.func, r.stage), own.size()),
                  r.loop, "a loop further out; " + state.loops_text(r.func, r.stage));
  SharedNest nest{.func = r.func,
                  .stage = r.stage,
                  .with = with.func,
                  .with_stage = with.stage,
                  .loops = {},
                  .origin = state.directive_text(r.directive)};
  for (std::size_t i = 1; i <= count; i++) {
    const Loop& a = state.loop(own[own.size() - i]);
    const Loop& b = state.loop(others[others.size() - i]);
    if (!alike(a, b))
      return refuse(state, r, fmt::format("{} and {}: they cannot be one loop", kind_text(a), kind_text(b)),
                    a.name, "loops that are paired, from the outermost in, bound alike");
    if (!a.partition_origin.empty())
      return refuse(state, r,
                    fmt::format("{} speaks of a loop that is a part of '{}'", a.partition_origin, b.name),
                    a.name, fmt::format("partition of '{}' of {}", b.name, other_name));
    nest.loops.emplace_back(a.id, b.id);
  }
  // One kernel has one grid.
  for (const std::vector<LoopId>& loops : {own, others})
    for (std::size_t i = 0; i < loops.size() - count; i++)
      if (state.loop(loops[i]).binding == ir::Binding::GpuBlock)
        return refuse(state, r,
                      fmt::format("the block loop '{}' would stand inside the loops that are shared",
                                  state.loop(loops[i]).name),
                      state.loop(loops[i]).name, "every block loop shared");
  state.stage(with.func, with.stage).referred = true;
  state.out.shared.push_back(std::move(nest));
}

}  // namespace

void resolve_shared(State& state) {
  for (const SharedReference& r : state.shared_references) {
    const auto with = find_place(state, {r.func, nullptr, r.of, r.loop, r.directive});
    if (with && fit(state, r, *with)) pair_loops(state, r, *with);
  }
  // Where a stage runs in the loops of one that runs in those of a third, all are the third's.
  for (std::size_t i = 0; i < state.out.shared.size(); i++)
    for (SharedNest& nest : state.out.shared)
      for (auto& [own, other] : nest.loops) other = state.out.shared_loop(other);
}

void check_shared(State& state) {
  for (const SharedNest& nest : state.out.shared) {
    const Place& own = state.out.of(nest.func).compute;
    const Place& with = state.out.of(nest.with).compute;
    const std::string& name = state.def(nest.with).name;
    const auto directive =
        std::find_if(state.shared_references.begin(), state.shared_references.end(),
                     [&](const SharedReference& r) { return r.func == nest.func && r.stage == nest.stage; });
    if (with.kind == Place::Kind::Inline)
      return refuse(state, *directive, fmt::format("'{}' is inlined, so it has no loops to share", name),
                    name, "compute_root or compute_at on it");
    if (own.kind != with.kind || (own.kind == Place::Kind::At && own.loop != with.loop))
      return refuse(
          state, *directive,
          fmt::format("'{}' and '{}' are not computed at one place", state.def(nest.func).name, name), name,
          "both at root, or both at the same loop");
  }
}

bool runs_in(const State& state, FuncId func, int stage, LoopId loop) {
  for (const SharedNest& nest : state.out.shared)
    if (nest.func == func && nest.stage == stage)
      for (const auto& [own, other] : nest.loops)
        if (other == loop) return true;
  return false;
}

Place owner_of(const State& state, const Place& place) {
  Place result = place;
  result.loop = state.out.shared_loop(place.loop);
  if (result.loop == place.loop) return result;
  for (const SharedNest& nest : state.out.shared) {
    const std::vector<LoopId>& loops = state.loops_of(nest.with, nest.with_stage).loops;
    if (std::find(loops.begin(), loops.end(), result.loop) == loops.end()) continue;
    result.func = nest.with;
    result.stage = nest.with_stage;
  }
  return result;
}

}  // namespace calotype::schedule
