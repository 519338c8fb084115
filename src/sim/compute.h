#pragma once
// Arithmetic over the lanes of a warp. The meaning is that of ir::apply; typed loops stand for it where speed
// counts, and agree with it bit for bit.

#include "sim/code.h"

namespace calotype::sim {

/// The loop of an operation, or one over ir::apply where there is none of its own.
Compute select_compute(const Operation& operation);

/// Typed loops; null where an operation has none.
Compute select_int_compute(const Operation& operation);
Compute select_float_compute(const Operation& operation);
Compute select_conversion(const Operation& operation);

/// Copies a uniform value to every lane.
void spread(const Operation&, Cell* result, const Cell* a, const Cell*, const Cell*, int n);
/// As it is.
void move(const Operation&, Cell* result, const Cell* a, const Cell*, const Cell*, int n);

}  // namespace calotype::sim
