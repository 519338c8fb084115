#pragma once
// Random operations on integers beyond those of C: bits, fixed point, choices, conversions.

#include "fuzz/values.h"

namespace calotype::fuzz {

/// One of them, of values of one integer type, in that type.
Value integer_function(Random& random, const Value& a, const Value& b);

}  // namespace calotype::fuzz
