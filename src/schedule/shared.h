#pragma once
// Loops that stages of different Funcs share, by compute_with.

#include "schedule/state.h"

namespace calotype::schedule {

/// Looks up the loops that every compute_with names and pairs them with the stage's own.
void resolve_shared(State& state);
/// After the places are known: stages that share loops are computed at one place.
void check_shared(State& state);

/// Whether the loop is one that the stage shares as if it were its own.
bool runs_in(const State& state, FuncId func, int stage, LoopId loop);
/// The place with the loop that stands for its own.
Place owner_of(const State& state, const Place& place);

}  // namespace calotype::schedule
