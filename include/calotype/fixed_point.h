#pragma once
// Fixed-point arithmetic of integers: results that need more bits than the operands, halves, and saturation.
// Each is exact by definition: the result in whole numbers, then what the name says is done to fit the type.
// Both operands take one type T as beside an operator. Floats and bools throw Error(Algorithm); so do
// operands of 64 bits where the result would need more.

#include "calotype/expr.h"

namespace calotype {

// In the type of twice the width.
Expr widening_add(Expr a, Expr b);
Expr widening_sub(Expr a, Expr b);  ///< signed, also for unsigned operands
Expr widening_mul(Expr a, Expr b);  ///< a and b of one width may differ in sign: signed then
Expr widening_shift_left(Expr a,
                         Expr b);  ///< a converted, then shifted; bits beyond twice the width are lost

// In T, or the end of T's range nearest to the result.
Expr saturating_add(Expr a, Expr b);
Expr saturating_sub(Expr a, Expr b);

// In T: the sum or difference halved without overflow on the way.
Expr halving_add(Expr a, Expr b);           ///< (a + b) / 2 rounded down
Expr rounding_halving_add(Expr a, Expr b);  ///< (a + b) / 2, halves rounded up
Expr halving_sub(Expr a, Expr b);  ///< (a - b) / 2 rounded down; wraps where it is negative and T unsigned

// In the type of a, for an amount of any integer type: a * 2^b and a / 2^b rounded to nearest, halves up, and
// saturated.
Expr rounding_shift_left(Expr a, Expr b);
Expr rounding_shift_right(Expr a, Expr b);

// In T: a * b / 2^q, saturated. The amount q is an unsigned expression or a literal >= 0.
Expr mul_shift_right(Expr a, Expr b, Expr q);           ///< rounded down
Expr rounding_mul_shift_right(Expr a, Expr b, Expr q);  ///< rounded to nearest, halves up

}  // namespace calotype
