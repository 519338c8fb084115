#pragma once
// Math on floats; integers convert to Float(32).
//
// Within 2 ulp on every target, for the whole range, with the special values and signs of zero that C has.
// Except asinh and acosh of f64 on a GPU: within the 3 that CUDA documents.

#include "calotype/expr.h"

namespace calotype {

Expr exp(Expr a);
Expr exp2(Expr a);
Expr expm1(Expr a);  ///< exp(a) - 1, exact near 0 too
Expr log(Expr a);
Expr log2(Expr a);
Expr log1p(Expr a);  ///< log(1 + a), exact near 0 too
Expr sqrt(Expr a);
Expr rsqrt(Expr a);
Expr pow(Expr a, Expr b);
Expr hypot(Expr a, Expr b);  ///< sqrt(a * a + b * b) without overflow on the way
Expr erf(Expr a);

// Angles are in radians.
Expr sin(Expr a);
Expr cos(Expr a);
Expr tan(Expr a);
Expr asin(Expr a);
Expr acos(Expr a);
Expr atan(Expr a);
Expr atan2(Expr y, Expr x);  ///< the angle of the point (x, y), from -pi to pi

Expr sinh(Expr a);
Expr cosh(Expr a);
Expr tanh(Expr a);
Expr asinh(Expr a);
Expr acosh(Expr a);
Expr atanh(Expr a);

Expr floor(Expr a);
Expr ceil(Expr a);
Expr trunc(Expr a);
Expr round(Expr a);  ///< to nearest, halves to even

/// a * b + c, rounded once (integers: as written). The three are brought to one type, as by two operators.
Expr fma(Expr a, Expr b, Expr c);

// What kind of number a float is: Bool. An operand that is no float throws Error(Algorithm).
Expr is_nan(Expr a);
Expr is_inf(Expr a);
Expr is_finite(Expr a);  ///< neither a NaN nor infinite

/// Less exact, and cheaper where the target has instructions for it. f32 results smaller than the smallest
/// normal number may be 0; other types, and targets without such instructions, have the exact operations.
namespace fast {
/// Within a relative error of 2^-21 + |a| * 2^-23.
Expr exp(Expr a);
/// For a > 0 that is no subnormal number: within 2^-21 + |log(a)| * 2^-21.
Expr log(Expr a);
/// a^b for a > 0 that is no subnormal number, as fast::exp(b * fast::log(a)), with the errors of both.
Expr pow(Expr a, Expr b);
/// For |a| <= pi within an absolute error of 2^-21. Of a larger one nothing is promised but a result from -1
/// to 1: reducing it to that range loses as many bits as it is larger.
Expr sin(Expr a);
Expr cos(Expr a);
/// Within a relative error of 2^-11.
Expr tanh(Expr a);
/// a / b for finite a and a divisor that is no subnormal number: within a relative error of 2^-21 plus |a| *
/// 2^-126.
Expr divide(Expr a, Expr b);
/// fast::divide(1, a)
Expr inverse(Expr a);
/// rsqrt(a): the exact operation is as cheap as any that the targets have.
Expr inverse_sqrt(Expr a);
}  // namespace fast

}  // namespace calotype
