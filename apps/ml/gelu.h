#pragma once
// The GELU activation for results that are rounded to 16 bits.

#include <calotype/calotype.h>

namespace calotype::apps {

/// z * (1 + erf(z / sqrt(2))) / 2 with a relative error of 5e-6 above z = -5 and about 1e-5 from there down
/// to -13, a two-hundredth of what rounding to bf16 takes and a fiftieth of that to f16: for z >= 0 it is z
/// less z * tail(z), for z < 0 it is z * tail(-z), where tail(z) = erfc(z / sqrt(2)) / 2 is a polynomial of
/// 1 / (1 + 0.31 z) times exp(-z^2 / 2). The form is that of Abramowitz and Stegun, 7.1.26, with coefficients
/// fitted to the relative error from 0 to 12.
inline Expr rough_gelu(const Expr& z) {
  const Expr size = abs(z), t = fast::inverse(1.0f + 0.31f * size);
  Expr tail = Expr(-0.073924165f);
  for (const float c : {0.18043287f, 0.015768536f, 0.13341414f, 0.12044617f, 0.12386012f})
    tail = tail * t + c;
  return max(z, 0.0f) - size * (tail * t * fast::exp(z * z * -0.5f));
}

}  // namespace calotype::apps
