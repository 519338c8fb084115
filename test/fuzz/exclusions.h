#pragma once
// What random schedules leave out on purpose, each with its reason: nothing else is avoided.

#include "calotype/schedule.h"

namespace calotype::fuzz::exclusions {

/// ShiftInwards on a GPU. The tile that is moved back writes points that the one before it writes too; both
/// write the same values, but as different threads, which the interpreter rightly calls a race. Whether such
/// schedules are to be refused or allowed is open.
inline bool shifted_threads(const Target& target, Tail tail) {
  return target.is_gpu() && tail == Tail::ShiftInwards;
}

}  // namespace calotype::fuzz::exclusions
