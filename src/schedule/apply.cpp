// Applying a schedule: every directive in order, then references between stages, the defaults, and the checks
// that need the whole. A refused directive is recorded and the next one tried, so that one call reports all;
// what only follows from an earlier refusal is not reported again.
#include "schedule/apply.h"

#include <algorithm>

#include "schedule/decisions.h"
#include "schedule/defaults.h"
#include "schedule/forms.h"
#include "schedule/functions.h"
#include "schedule/gpu.h"
#include "schedule/loops.h"
#include "schedule/places.h"
#include "schedule/races.h"
#include "schedule/roles.h"
#include "schedule/shared.h"
#include "schedule/spelling.h"
#include "schedule/unread.h"
#include "schedule/ways.h"

namespace calotype::schedule {

namespace {

/// An applied directive whose spec has something to check at the end.
using Later = std::vector<Application>;

void report_form(State& state, const Directive& d, int index, const FormProblem& problem) {
  state.refusals.push_back({{.kind = ErrorKind::Schedule,
                             .subject = state.out.graph.subject_of(State::func_named(d)),
                             .message = problem.message,
                             .func = State::func_named(d),
                             .stage = d.stage,
                             .directive = text(d, index),
                             .value = problem.value,
                             .legal = problem.legal},
                            index});
}

/// The names that a refused directive would have made, so that uses of them are not reported as well.
void note_unmade(State& state, const Directive& d, const DirectiveSpec& spec) {
  std::vector<std::string> loops;
  auto note = [&](const ArgSpec& arg, const Value& v) {
    const auto* name = std::get_if<std::string>(&v.data);
    if (!name) return;
    if (arg.kind == ArgKind::NewFunc) state.unmade_funcs.push_back(*name);
    if (arg.kind == ArgKind::NewLoop) loops.push_back(*name);
    if (arg.kind == ArgKind::Loop)
      for (const char* suffix : {".o", ".i", ".u", ".v", ".t", ".l", ".w"}) loops.push_back(*name + suffix);
  };
  for (const ArgSpec& arg : spec.args) {
    const Value* value = find_arg(d, arg.name);
    if (!value) continue;
    if (const auto* list = std::get_if<Value::List>(&value->data)) {
      for (const Value& v : *list) note(arg, v);
    } else {
      note(arg, *value);
    }
  }
  for (const lang::FuncDef& f : state.out.graph.funcs)
    for (std::size_t i = 0; i < f.stages.size(); i++)
      if (lang::stage_name(f, static_cast<int>(i)) == d.stage) {
        StageState& stage = state.stage(f.id, static_cast<int>(i));
        stage.unmade.insert(stage.unmade.end(), loops.begin(), loops.end());
        stage.directed = true;
      }
}

/// Who addressed what: defaults keep away from stages that were, and inlined Funcs may not be.
void note_addressed(const Application& a) {
  if (!a.func.valid()) return;
  FuncState& f = a.state.funcs[a.func.value];
  const bool place = a.spec.name.starts_with("compute_");
  if (!place && !a.spec.inert && f.first_directive < 0) f.first_directive = a.index;
  if (a.stage >= 0 && !a.spec.keeps_defaults) f.stages[a.stage].directed = true;
}

void apply_directive(State& state, int index, Later& later) {
  const Directive& d = state.schedule.directives()[index];
  const DirectiveSpec* spec = find_directive(d.name);
  if (!spec) return report_form(state, d, index, unknown_directive(d.name));
  try {
    if (const auto problem = check_form(*spec, d, state.schedule.knobs())) {
      report_form(state, d, index, *problem);
      return note_unmade(state, d, *spec);
    }
    Application a(state, d, *spec, index);
    note_addressed(a);
    spec->apply(a);
    if (spec->check) later.push_back(a);
  } catch (const Refused& r) {
    state.refusals.push_back(r.refusal);
    note_unmade(state, d, *spec);
  } catch (const Skipped&) {
    note_unmade(state, d, *spec);
  }
}

void check_later(State& state, Later& later) {
  for (Application& a : later) try {
      a.spec.check(a);
    } catch (const Refused& r) {
      state.refusals.push_back(r.refusal);
    }
}

bool is_assumption(const Directive& d) { return d.name == "assume" || d.name == "assume_buffer"; }

/// Loops that `loop` was made into, by any number of transforms.
bool has_bound_descendant(const State& state, const StageSchedule& s, LoopId loop, bool threads) {
  const ir::Binding b = state.loop(loop).binding;
  if (b == ir::Binding::Vector || (threads && b == ir::Binding::GpuThread)) return true;
  for (const Transform& t : s.transforms) {
    const bool split = t.kind == Transform::Kind::Split;
    if (split && t.old == loop)
      return has_bound_descendant(state, s, t.outer, threads) ||
             has_bound_descendant(state, s, t.inner, threads);
    if (!split && (t.inner == loop || t.outer == loop))
      return has_bound_descendant(state, s, t.fused, threads);
  }
  return false;
}

/// Tail::Auto: masks where the condition differs between lanes or threads, a branch elsewhere.
void resolve_tails(State& state) {
  for (FuncSchedule& f : state.out.funcs)
    for (StageSchedule& s : f.stages)
      for (Transform& t : s.transforms) {
        if (t.kind != Transform::Kind::Split || t.tail != Tail::Auto) continue;
        const bool masks =
            has_bound_descendant(state, s, t.inner, true) || has_bound_descendant(state, s, t.outer, false);
        t.tail = masks ? Tail::Predicate : Tail::Guard;
      }
}

/// A vector loop is the innermost place a value can be: nothing is computed inside it.
void check_vector_places(State& state) {
  for (const lang::FuncDef& f : state.out.graph.funcs) {
    const Place& place = state.out.of(f.id).compute;
    if (place.kind != Place::Kind::At) continue;
    for (const Around& l : loops_around(state, place)) {
      if (state.loop(l.loop).binding != ir::Binding::Vector) continue;
      state.refuse(
          f.id, -1, state.funcs[f.id.value].compute_directive,
          "'" + f.name + "' would be computed inside the vector loop '" + state.loop(l.loop).name + "'",
          state.loop(place.loop).name, "a loop outside '" + state.loop(l.loop).name + "', or compute_inline");
      break;
    }
  }
}

/// What nothing reads is left out. Where a condition took a reader away, so are the loops it would have
/// shared.
void leave_out(State& state) {
  const std::vector<bool> read = leave_out_unread(state.out);
  if (!state.out.decisions.empty())
    std::erase_if(state.out.shared, [&](const SharedNest& nest) { return !read[nest.func.value]; });
}

}  // namespace

Scheduled apply_one_way(const lang::Graph& graph, const Schedule& schedule, const Target& target,
                        const Branching& branching, std::vector<Refusal>& refusals) {
  State state(graph, schedule, target);
  state.out.decisions = branching.decisions;
  state.out.strides = branching.strides;
  state.out.rejection = branching.rejection;
  Later later;
  // What is assumed of sizes and buffers holds for the whole list, so that a size with one value is a
  // constant in it.
  for (const bool assumptions : {true, false}) {
    for (std::size_t i = 0; i < schedule.directives().size(); i++)
      if (branching.active[i] && is_assumption(schedule.directives()[i]) == assumptions)
        apply_directive(state, static_cast<int>(i), later);
    if (assumptions) assume_decided(state);
  }
  check_functions(state);
  resolve_shared(state);
  resolve_places(state);
  check_later(state, later);
  check_tails(state);
  // The checks of the whole need a whole: after a refusal they would only report its consequences.
  if (state.refusals.empty()) default_places(state);
  for (FormAssumption& f : tensor_forms(state.out)) state.out.forms.push_back(std::move(f));
  if (state.refusals.empty()) check_places(state);
  if (state.refusals.empty()) check_shared(state);
  if (state.refusals.empty()) default_loops(state);
  if (state.refusals.empty()) check_races(state);
  if (state.refusals.empty()) check_vector_places(state);
  if (state.refusals.empty() && target.is_gpu()) check_gpu(state);
  if (state.refusals.empty()) check_roles(state);
  resolve_tails(state);
  simplify_decided(state);
  state.out.order = lang::producers_first(state.out.graph);
  leave_out(state);
  refusals.insert(refusals.end(), state.refusals.begin(), state.refusals.end());
  return std::move(state.out);
}

Scheduled apply(const lang::Graph& graph, const Schedule& schedule, const Target& target,
                std::vector<Refusal>& refusals) {
  return std::move(apply_ways(graph, schedule, target, refusals).ways.front().scheduled);
}

Scheduled apply(const lang::Graph& graph, const Schedule& schedule, const Target& target,
                std::vector<Diagnostic>& diagnostics) {
  std::vector<Refusal> refusals;
  Scheduled s = apply(graph, schedule, target, refusals);
  for (Refusal& r : refusals) diagnostics.push_back(std::move(r.diagnostic));
  return s;
}

Scheduled apply_or_throw(const lang::Graph& graph, const Schedule& schedule, const Target& target) {
  std::vector<Diagnostic> diagnostics;
  Scheduled s = apply(graph, schedule, target, diagnostics);
  if (!diagnostics.empty()) throw Error(diagnostics.front());
  return s;
}

}  // namespace calotype::schedule
