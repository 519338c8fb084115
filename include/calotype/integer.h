#pragma once
// Operations on integers and bits beyond the operators of expr.h, and choices by number or weight. Operands
// take one type as beside an operator; a type that an operation has no meaning for throws Error(Algorithm).

#include "calotype/expr.h"

namespace calotype {

/// |a - b|, which never overflows: of integers in the unsigned type of their width; of floats in their type.
Expr absd(Expr a, Expr b);

/// Between a (weight 0) and b (weight 1), in the type that a and b take.
///
/// Integers a and b of n <= 32 bits: with W = 2^n - 1 and the weight as a whole number w of W parts,
/// (a * (W - w) + b * w) / W rounded to nearest. w is: of an unsigned weight of m bits, weight / (2^m - 1) of
/// W, which is exact for m <= n and rounds down for m > n; of a float weight, weight * W cut to an integer,
/// which is 0 below 0 and W above 1. Bools: b if the weight is above one half. Floats: a * (1 - w) + b * w,
/// where an unsigned weight of m bits stands for weight / (2^m - 1).
Expr lerp(Expr a, Expr b, Expr weight);

/// values[index]; the last value for every index that is none of 0 to values.size() - 1. All values are
/// evaluated. One or more values, of one type as by `select`.
Expr mux(Expr index, const std::vector<Expr>& values);

// Bits of an integer of n bits, in its type. Not for bools.
Expr popcount(Expr a);              ///< the ones
Expr count_leading_zeros(Expr a);   ///< zeros above the highest one; n for 0
Expr count_trailing_zeros(Expr a);  ///< zeros below the lowest one; n for 0

/// The bits of `a`, an integer or float of n bits, from bit `lowest` (0: the least significant) on, as a
/// value of `type`; those at n and above, and below 0, are 0. `lowest`: an integer.
Expr extract_bits(Type type, Expr a, Expr lowest);
template <class T>
Expr extract_bits(Expr a, Expr lowest) {
  return extract_bits(type_of<T>(), std::move(a), std::move(lowest));
}
/// The bits of all parts in one integer, those of parts[0] lowest: of k integers of n bits, k a power of two,
/// an integer of k * n <= 64 bits, signed if they are. One part: itself.
Expr concat_bits(const std::vector<Expr>& parts);

// Division as C has it, of integers: the quotient is cut toward zero and the rest has the sign of a.
Expr div_round_to_zero(Expr a, Expr b);  ///< a / 0 is 0; the smallest value by -1 wraps to itself
Expr mod_round_to_zero(Expr a, Expr b);  ///< a % 0 is 0

/// The bits of `a` as a value of another type of the same width.
Expr reinterpret(Type type, Expr a);
template <class T>
Expr reinterpret(Expr a) {
  return reinterpret(type_of<T>(), std::move(a));
}

}  // namespace calotype
