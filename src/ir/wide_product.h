#pragma once
// Products of 64-bit numbers, which have 128 bits, from 64-bit operations.

#include "ir/expr_node.h"

namespace calotype::ir {

/// a * b / 2^q in the type of a and b, Int(64) or UInt(64), saturated; rounded down, or to nearest with
/// halves up. q is UInt(64).
Expr wide_product_shifted(const Expr& a, const Expr& b, const Expr& q, bool rounded);

}  // namespace calotype::ir
