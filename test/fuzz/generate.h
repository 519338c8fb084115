#pragma once
// Random programs.

#include "fuzz/program.h"
#include "fuzz/random.h"

namespace calotype::fuzz {

/// A program with 2 to 8 Funcs besides boundary conditions, small enough to be evaluated at once.
Program generate_program(Random& random);

}  // namespace calotype::fuzz
