#pragma once
// Where Funcs are computed and stored: looking up the loops named, and whether they enclose what they must.

#include <optional>

#include "schedule/state.h"

namespace calotype::schedule {

/// Refuses a second compute_* (store_*, hoist_*) directive on the Func that `a` addresses, and notes this
/// one.
void claim_compute(Application& a, Place::Kind kind);
void claim_store(Application& a);
void claim_hoist(Application& a, Place::Kind kind);
/// Notes that `a` names a loop of another stage, looked up by `resolve_places`.
void refer_to_loop(Application& a, Place FuncSchedule::* place);

/// The loop that a directive on `func` names by a stage's text and its own, or nothing: then it is refused.
std::optional<Place> find_place(State& state, const LoopReference& reference);

/// Looks up every loop that compute_at, store_at and hoist_storage name.
void resolve_places(State& state);
/// After the defaults: each Func is computed inside a loop that encloses all its consumers, and stored there
/// or further out, in memory allocated there or further out.
void check_places(State& state);

/// The loops that run around the body of a stage, innermost first: its own, then those around the place where
/// its Func is computed.
struct Around {
  FuncId func;
  int stage = 0;
  LoopId loop;
};
std::vector<Around> loops_around(const State& state, FuncId func, int stage);
/// The loops around the place itself: the loop named and all outside it.
std::vector<Around> loops_around(const State& state, const Place& place);

}  // namespace calotype::schedule
