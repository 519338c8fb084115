// Where Funcs are computed and stored: looking up the loops named, and whether they enclose what they must.
#include "schedule/places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "schedule/readers.h"
#include "schedule/shared.h"

namespace calotype::schedule {

namespace {

/// "acc.update(0)" is that update, "acc.pure" stage 0, "acc" any stage of acc.
std::vector<StageId> stages_named(const State& state, const std::string& text) {
  std::vector<StageId> found;
  for (const lang::FuncDef& f : state.out.graph.funcs) {
    for (int i = 0; i < static_cast<int>(f.stages.size()); i++) {
      const bool exact = i > 0 && text == lang::stage_name(f, i);
      if (exact || text == f.name || (i == 0 && text == f.name + ".pure")) found.push_back({f.id, i});
    }
  }
  return found;
}

bool inside_refused(const State& state, const std::vector<StageId>& stages, const std::string& loop) {
  return std::any_of(stages.begin(), stages.end(), [&](const StageId& n) {
    const auto& unmade = state.funcs[n.func.value].stages[n.stage].unmade;
    return std::find(unmade.begin(), unmade.end(), loop) != unmade.end();
  });
}

void unknown_stage(State& state, const LoopReference& r) {
  for (const std::string& name : state.unmade_funcs)
    if (r.stage.starts_with(name)) return;
  state.refuse(r.func, -1, r.directive, fmt::format("there is no stage '{}'", r.stage), r.stage,
               name_choices(r.stage, state.stage_names(), "stages"));
}

void unknown_loop(State& state, const LoopReference& r, const std::vector<StageId>& stages) {
  for (const StageId& n : stages)
    for (LoopId id : state.stage(n.func, n.stage).ever)
      if (state.loop(id).name == r.loop)
        return state.refuse(r.func, -1, r.directive,
                            fmt::format("the loop '{}' of {} is gone: {} stands in its place", r.loop,
                                        state.stage_name(n.func, n.stage), state.loop(id).replaced_by),
                            r.loop, state.loops_text(n.func, n.stage));
  std::vector<std::string> names;
  if (const ir::Extern* function = state.def(stages[0].func, 0).function())
    return state.refuse(
        r.func, -1, r.directive,
        fmt::format("'{}' is computed by the function '{}', a box at a time, and has no loops",
                    state.def(stages[0].func).name, function->function.name),
        r.loop, "compute_root, or a loop of what reads it");
  for (const StageId& n : stages)
    for (const std::string& name : state.loop_names(n.func, n.stage))
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  state.refuse(r.func, -1, r.directive, fmt::format("there is no loop '{}' in {}", r.loop, r.stage), r.loop,
               name_choices(r.loop, names, "loops of " + r.stage));
}

}  // namespace

std::optional<Place> find_place(State& state, const LoopReference& r) {
  const std::vector<StageId> stages = stages_named(state, r.stage);
  if (stages.empty()) unknown_stage(state, r);
  if (stages.empty() || inside_refused(state, stages, r.loop)) return std::nullopt;
  std::vector<Place> found;
  std::vector<std::string> where;
  for (const StageId& n : stages)
    for (LoopId id : state.loops_of(n.func, n.stage).loops)
      if (state.loop(id).name == r.loop) {
        found.push_back({Place::Kind::At, n.func, n.stage, id});
        where.push_back(n.stage == 0 && stages.size() > 1 ? state.def(n.func).name + ".pure"
                                                          : state.stage_name(n.func, n.stage));
      }
  if (found.size() == 1) return found[0];
  if (found.empty())
    unknown_loop(state, r, stages);
  else
    state.refuse(r.func, -1, r.directive,
                 fmt::format("the loop '{}' is found in several stages of {}", r.loop, r.stage), r.loop,
                 fmt::format("name the stage: {}", fmt::join(where, ", ")));
  return std::nullopt;
}

namespace {

/// Of a loop that stages share the place is in the stage whose loop it is. One that is not found is refused;
/// what goes on looking at places then finds none that has no loop.
void resolve(State& state, const LoopReference& r) {
  Place& place = state.out.funcs[r.func.value].*r.place;
  const std::optional<Place> found = find_place(state, r);
  if (!found) {
    place.kind = Place::Kind::Root;
    return;
  }
  state.stage(found->func, found->stage).referred = true;
  place = owner_of(state, *found);
}

/// Refuses a Func that would be computed inside its own loops: that may be where stages share some.
void refuse_circles(State& state) {
  if (state.out.shared.empty()) return;
  for (const lang::FuncDef& def : state.out.graph.funcs) {
    Place& own = state.out.funcs[def.id.value].compute;
    const Place* place = &own;
    for (std::size_t n = 0; n <= state.out.graph.funcs.size() && place->kind == Place::Kind::At; n++)
      place = &state.out.of(place->func).compute;
    if (place->kind != Place::Kind::At) continue;
    state.refuse(
        def.id, -1, state.funcs[def.id.value].compute_directive,
        fmt::format("'{}' would be computed inside a loop that itself runs inside '{}'", def.name, def.name),
        state.loop(own.loop).name, "a loop that is not shared with what is computed inside it");
    own.kind = Place::Kind::Root;
  }
}

/// One directive of a kind a Func; `taken` says of the Func's name that there is one.
void claim(Application& a, int FuncState::* directive, fmt::format_string<const std::string&> taken,
           const char* legal) {
  const std::string& name = a.func_def().name;
  int& known = a.state.funcs[a.func.value].*directive;
  if (known >= 0)
    a.refuse(fmt::format("{}, by {}", fmt::format(taken, name), a.state.directive_text(known)), name, legal);
  known = a.index;
}

}  // namespace

void claim_compute(Application& a, Place::Kind kind) {
  claim(a, &FuncState::compute_directive, "'{}' has its place already", "one compute directive a Func");
  FuncSchedule& s = a.state.out.funcs[a.func.value];
  s.compute.kind = kind;
  s.compute_origin = a.origin();
}

void claim_store(Application& a) {
  claim(a, &FuncState::store_directive, "'{}' has its storage already", "one store directive a Func");
}

void claim_hoist(Application& a, Place::Kind kind) {
  claim(a, &FuncState::hoist_directive, "the memory of '{}' is hoisted already", "one hoist_storage a Func");
  FuncSchedule& s = a.state.out.funcs[a.func.value];
  s.hoist.kind = kind;
  s.hoist_origin = a.origin();
}

void refer_to_loop(Application& a, Place FuncSchedule::* place) {
  a.state.references.push_back({a.func, place, a.name("of"), a.name("loop"), a.index});
}

void resolve_places(State& state) {
  for (const LoopReference& r : state.references) resolve(state, r);
  refuse_circles(state);
}

namespace {

std::vector<Around> loops_around_place(const State& state, const Place& place, std::set<FuncId>& seen);

/// `seen`: the Funcs from which this was reached. A circle of places ends there: it is refused, but others
/// look at the loops before that.
std::vector<Around> loops_around_stage(const State& state, FuncId func, int stage, std::set<FuncId>& seen) {
  std::vector<Around> around;
  if (!seen.insert(func).second) return around;
  for (LoopId id : state.loops_of(func, stage).loops)
    around.push_back({func, stage, state.out.shared_loop(id)});
  const std::vector<Around> outside = loops_around_place(state, state.out.of(func).compute, seen);
  around.insert(around.end(), outside.begin(), outside.end());
  return around;
}

std::vector<Around> loops_around_place(const State& state, const Place& place, std::set<FuncId>& seen) {
  if (place.kind != Place::Kind::At) return {};
  std::vector<Around> around = loops_around_stage(state, place.func, place.stage, seen);
  auto at = std::find_if(around.begin(), around.end(), [&](const Around& l) { return l.loop == place.loop; });
  return {at, around.end()};
}

}  // namespace

std::vector<Around> loops_around(const State& state, FuncId func, int stage) {
  std::set<FuncId> seen;
  return loops_around_stage(state, func, stage, seen);
}

std::vector<Around> loops_around(const State& state, const Place& place) {
  std::set<FuncId> seen;
  return loops_around_place(state, place, seen);
}

namespace {

/// Whether the body of a stage runs inside the place's loop, through inlined Funcs to their readers.
/// `outside` gets the first reader that does not; `seen` are inlined Funcs whose readers were looked at.
bool inside(const State& state, const Readers& readers, const StageId& reader, const Place& place,
            std::set<FuncId>& seen, StageId& outside) {
  if (reader.func == place.func && reader.stage == place.stage) return true;
  if (runs_in(state, reader.func, reader.stage, place.loop)) return true;
  const Place& own = state.out.of(reader.func).compute;
  if (own.kind == Place::Kind::Inline) {
    if (!seen.insert(reader.func).second) return true;
    for (const StageId& next : readers.of(reader.func))
      if (!inside(state, readers, next, place, seen, outside)) return false;
    return true;
  }
  for (const Around& l : loops_around(state, own))
    if (l.loop == place.loop) return true;
  outside = reader;
  return false;
}

/// The place, as refusals name it.
std::string text_of_place(const State& state, const Place& p) {
  return fmt::format("'{}' of {}", state.loop(p.loop).name, state.stage_name(p.func, p.stage));
}

bool check_consumer(State& state, const Readers& readers, FuncId func, const Place& place, int directive) {
  if (readers.reach(func, place.func)) return true;
  for (const SharedNest& nest : state.out.shared)
    if (runs_in(state, nest.func, nest.stage, place.loop) && readers.reach(func, nest.func)) return true;
  std::vector<std::string> names;
  for (const StageId& r : readers.of(func)) names.push_back(state.stage_name(r.func, r.stage));
  state.refuse(func, -1, directive,
               fmt::format("'{}' does not consume '{}'", state.def(place.func).name, state.def(func).name),
               state.def(place.func).name, fmt::format("its consumers: {}", fmt::join(names, ", ")));
  return false;
}

bool check_at(State& state, const Readers& readers, FuncId func, const Place& place, int directive) {
  if (!check_consumer(state, readers, func, place, directive)) return false;
  if (state.out.of(place.func).compute.kind == Place::Kind::Inline) {
    state.refuse(func, -1, directive,
                 fmt::format("'{}' is inlined, so it has no loop to compute at", state.def(place.func).name),
                 state.loop(place.loop).name,
                 fmt::format("a loop of a Func that is not inlined, or compute_root or compute_at on '{}'",
                             state.def(place.func).name));
    return false;
  }
  StageId outside;
  std::set<FuncId> seen;
  for (const StageId& r : readers.of(func)) {
    if (inside(state, readers, r, place, seen, outside)) continue;
    state.refuse(
        func, -1, directive,
        fmt::format("the loop {} does not enclose every consumer of '{}': {} is computed outside it",
                    text_of_place(state, place), state.def(func).name,
                    state.stage_name(outside.func, outside.stage)),
        state.loop(place.loop).name,
        fmt::format("compute_root, a loop around all its consumers, or a copy for some of them by in"));
    return false;
  }
  return true;
}

/// Whether memory made at `outer` may serve what happens at `inner`: the loops between run one after the
/// other.
void check_outside(State& state, FuncId func, const Place& inner, const Place& outer, int directive,
                   const char* done) {
  for (const Around& l : loops_around(state, inner)) {
    if (outer.kind == Place::Kind::At && l.loop == outer.loop) return;
    const ir::Binding b = state.loop(l.loop).binding;
    if (b == ir::Binding::Serial || b == ir::Binding::Unrolled) continue;
    return state.refuse(
        func, -1, directive,
        fmt::format("the {} loop '{}' stands between where '{}' is stored and where it is {}: its "
                    "iterations would write the same memory at one time",
                    ir::to_string(b), state.loop(l.loop).name, state.def(func).name, done),
        state.loop(l.loop).name, fmt::format("storage inside '{}'", state.loop(l.loop).name));
  }
  if (outer.kind == Place::Kind::Root) return;
  std::vector<std::string> names;
  for (const Around& l : loops_around(state, inner))
    names.push_back(fmt::format("{} of {}", state.loop(l.loop).name, state.stage_name(l.func, l.stage)));
  state.refuse(func, -1, directive,
               fmt::format("the loop {} is not around the loop where '{}' is {}", text_of_place(state, outer),
                           state.def(func).name, done),
               state.loop(outer.loop).name, fmt::format("{}", fmt::join(names, ", ")));
}

/// Storage and allocation that directives put elsewhere.
void check_store(State& state, FuncId func) {
  const FuncState& own = state.funcs[func.value];
  const FuncSchedule& f = state.out.of(func);
  if (own.store_directive < 0 && own.hoist_directive < 0) return;
  if (f.compute.kind != Place::Kind::At)
    return state.refuse(func, -1, own.store_directive < 0 ? own.hoist_directive : own.store_directive,
                        fmt::format("'{}' is not computed at a loop, so its storage cannot be at another one",
                                    state.def(func).name),
                        state.def(func).name, "compute_at as well");
  if (own.store_directive >= 0)
    check_outside(state, func, f.compute, f.store, own.store_directive, "computed");
  if (own.hoist_directive < 0 || !state.refusals.empty()) return;
  if (f.store.kind == Place::Kind::At)
    return check_outside(state, func, f.store, f.hoist, own.hoist_directive, "used");
  if (f.hoist.kind != Place::Kind::At) return;
  const std::string& loop = state.loop(f.hoist.loop).name;
  state.refuse(
      func, -1, own.hoist_directive,
      fmt::format("'{}' is stored outside every loop, so its memory cannot be that of an iteration of "
                  "{}",
                  state.def(func).name, text_of_place(state, f.hoist)),
      loop, fmt::format("hoist_storage_root, or store_at a loop inside '{}'", loop));
}

/// What an inlined Func cannot have.
void check_inline(State& state, FuncId func) {
  const FuncState& f = state.funcs[func.value];
  const bool by_default = f.compute_directive < 0;
  const std::string why = fmt::format(
      "'{}' is inlined{}, so it has no loops and no storage", state.def(func).name,
      by_default ? " by default" : fmt::format(" by {}", state.directive_text(f.compute_directive)));
  const std::string legal = "compute_root or compute_at on it";
  if (f.first_directive >= 0) state.refuse(func, -1, f.first_directive, why, state.def(func).name, legal);
}

}  // namespace

void check_places(State& state) {
  const Readers readers(state.out.graph);
  for (const lang::FuncDef& def : state.out.graph.funcs) {
    FuncSchedule& f = state.out.funcs[def.id.value];
    const FuncState& own = state.funcs[def.id.value];
    if (f.compute.kind == Place::Kind::Inline) check_inline(state, def.id);
    if (f.compute.kind == Place::Kind::At &&
        !check_at(state, readers, def.id, f.compute, own.compute_directive))
      continue;
    if (own.store_directive < 0) f.store = f.compute;
    if (own.hoist_directive < 0) f.hoist = f.store;
  }
  if (!state.refusals.empty()) return;
  for (const lang::FuncDef& def : state.out.graph.funcs)
    if (state.out.of(def.id).compute.kind != Place::Kind::Inline) check_store(state, def.id);
}

}  // namespace calotype::schedule
