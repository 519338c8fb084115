#pragma once
// How well aligned an index is.

#include "ir/simplify.h"

namespace calotype::cuda {

/// The largest power of two, at most 16, that divides the value of an integer expression for certain.
/// Arithmetic of any width that wraps keeps such divisors, so that no bounds are needed (unlike for
/// ir::known_multiple).
int power_of_two_divisor(const Expr& e, const ir::Facts& facts);

}  // namespace calotype::cuda
