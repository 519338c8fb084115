#pragma once
// Races: which reduction loops of an update may have iterations that run at one time, and how those that meet
// in one place share it. Decided once every directive has been applied, so that it does not matter in which
// order loops are bound, reordered and declared atomic.

#include "schedule/state.h"

namespace calotype::schedule {

/// Sets Loop::sharing of every reduction loop that is parallel, a vector or bound to blocks or threads, and
/// notes what is summed in another order. Refuses loops of which two iterations may meet, saying which.
void check_races(State& state);

}  // namespace calotype::schedule
