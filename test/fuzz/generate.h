#pragma once
// Random programs.

#include "fuzz/program.h"
#include "fuzz/random.h"

namespace calotype::fuzz {

/// A program with 2 to 8 Funcs besides boundary conditions, small enough to be evaluated at once.
/// With `functions` some are computed by a function, as hosts can.
Program generate_program(Random& random, bool functions);

}  // namespace calotype::fuzz
