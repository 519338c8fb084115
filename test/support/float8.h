#pragma once
// The 8-bit floats in closed form: what each pattern of bits stands for, and by search which of them is
// nearest.

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "calotype/type.h"

namespace calotype::testing {

/// What the bits stand for: (-1)^sign * 1.fraction * 2^(exponent - bias), or 0.fraction * 2^(1 - bias).
inline double float8_number(Type type, int bits) {
  const bool e4m3 = type.code == TypeCode::E4M3;
  const int width = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
  const int exponent = (bits & 0x7f) >> width, fraction = bits & ((1 << width) - 1);
  const double sign = bits & 0x80 ? -1 : 1;
  if (e4m3 ? (bits & 0x7f) == 0x7f : exponent == 31 && fraction != 0)
    return std::numeric_limits<double>::quiet_NaN();
  if (!e4m3 && exponent == 31) return sign * std::numeric_limits<double>::infinity();
  const double steps = fraction + (exponent > 0 ? 1 << width : 0);
  return sign * std::ldexp(steps, (exponent > 0 ? exponent : 1) - bias - width);
}

/// The bits that a conversion gives: of the finite numbers the nearest, of two the one with an even last bit.
inline int float8_nearest(Type type, double x) {
  if (std::isnan(x)) return 0x7f;
  const int sign = std::signbit(x) ? 0x80 : 0;
  // Twice the largest number is as far beyond it as anything: differences from it are exact.
  const double size = std::fmin(std::fabs(x), 0x1p17);
  int best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int bits = 0; bits < 0x80; ++bits) {
    const double number = float8_number(type, bits);
    if (!std::isfinite(number)) break;
    const double distance = std::fabs(size - number);
    if (distance > least || (distance == least && bits % 2 != 0)) continue;
    best = bits;
    least = distance;
  }
  return sign | best;
}

/// Every number of the type, what lies between two neighbours and just beside it, and what is beyond the
/// ends.
template <class F>
std::vector<F> float8_probes(Type type) {
  std::vector<F> probes = {std::numeric_limits<F>::infinity(), std::numeric_limits<F>::quiet_NaN(),
                           std::numeric_limits<F>::max(),      std::numeric_limits<F>::denorm_min(),
                           std::numeric_limits<F>::min(),      F(0)};
  double before = 0;
  for (int bits = 0; bits < 0x80; ++bits) {
    const double number = float8_number(type, bits);
    if (!std::isfinite(number)) break;
    for (const double middle : {number, (before + number) / 2, number * 1.0625, number * 1.25}) {
      const F at = static_cast<F>(middle);
      probes.insert(probes.end(), {at, std::nextafter(at, F(0)), std::nextafter(at, F(INFINITY))});
    }
    before = number;
  }
  const std::size_t positive = probes.size();
  for (std::size_t i = 0; i < positive; ++i) probes.push_back(-probes[i]);
  return probes;
}

}  // namespace calotype::testing
