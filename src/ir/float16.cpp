// Bit-exact conversions between binary32 and the two 16-bit formats.

#include "calotype/float16.h"

#include <bit>

namespace calotype {

namespace {

/// value >> shift, rounded to nearest, halves to even (1 <= shift <= 31).
std::uint32_t shift_right_rounded(std::uint32_t value, int shift) {
  const std::uint32_t half = std::uint32_t{1} << (shift - 1);
  const std::uint32_t kept = value >> shift;
  const std::uint32_t rest = value & ((half << 1) - 1);
  return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

}  // namespace

std::uint16_t float_to_half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) {  // NaN: keep it quiet and keep the upper payload
    return static_cast<std::uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  }
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent > 15) return sign | 0x7c00;
  if (exponent >= -14) {
    // Rebias the exponent by 127 - 15; a carry out of the significand raises it, up to infinity.
    return static_cast<std::uint16_t>(sign | shift_right_rounded(magnitude - (112u << 23), 13));
  }
  if (exponent < -25) return sign;  // below half of the smallest subnormal
  const std::uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
  return static_cast<std::uint16_t>(sign | shift_right_rounded(significand, -exponent - 1));
}

float half_bits_to_float(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1f;
  const std::uint32_t significand = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | (significand << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (significand << 13));
  const float magnitude = static_cast<float>(significand) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

std::uint16_t float_to_bfloat_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>(shift_right_rounded(bits, 16));
}

float bfloat_bits_to_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

}  // namespace calotype
