#pragma once
// From a lowered kernel to the simulator's code.

#include "lower/program.h"
#include "sim/code.h"

namespace calotype::sim {

/// Throws Error(Internal) for what level `lowered` does not allow.
Code compile(const lower::Function& function);

}  // namespace calotype::sim
