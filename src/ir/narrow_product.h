#pragma once
// Products of narrow integers in a wide type: the terms of sums for which machines have dot products.

#include <optional>

#include "ir/expr_node.h"

namespace calotype::ir {

/// `x * y`, or `x` alone where there is no y, of integers of 8 or 16 bits; 0 in lanes where `mask` is false.
struct NarrowProduct {
  Expr x, y;
  Expr mask;  ///< undefined: every lane

  /// Bits of the wider factor.
  int bits() const;
};

/// The factors of a vector of integers of 32 bits, if each lane is such a product modulo 2^32: no step on the
/// way to it wraps in a narrower type.
std::optional<NarrowProduct> narrow_product(const Expr& e);

}  // namespace calotype::ir
