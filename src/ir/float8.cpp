// Conversions between binary32 and the two 8-bit formats.

#include "calotype/float8.h"

#include <bit>

#include "calotype/float16.h"

namespace calotype {

namespace {

constexpr std::uint8_t kNaN = 0x7f;

/// A format of 8 bits: `fraction` bits below the exponent, which counts from 1 - bias.
struct Format {
  int fraction, bias;
  float largest;
};
constexpr Format kE4M3{3, 7, 448.0f}, kE5M2{2, 15, 57344.0f};

std::uint8_t rounded_bits(const Format& format, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return kNaN;
  if (magnitude > std::bit_cast<std::uint32_t>(format.largest))
    magnitude = std::bit_cast<std::uint32_t>(format.largest);
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  // Below the normal numbers all have the distance of the smallest exponent.
  const int below = exponent < 1 - format.bias ? 1 - format.bias - exponent : 0;
  const int cut = 23 - format.fraction + below;
  std::uint32_t kept = 0;
  if (cut <= 24) {  // from half of the smallest number on
    const std::uint32_t significand = (magnitude & 0x7fffff) | 0x800000;
    const std::uint32_t half = std::uint32_t{1} << (cut - 1);
    kept = significand >> cut;
    const std::uint32_t rest = significand & ((half << 1) - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  // The hidden bit counts as one of the exponent; a carry out of the fraction raises it.
  if (below == 0) kept += static_cast<std::uint32_t>(exponent + format.bias - 1) << format.fraction;
  return static_cast<std::uint8_t>((bits >> 24 & 0x80) | kept);
}

}  // namespace

std::uint8_t float_to_e4m3_bits(float value) { return rounded_bits(kE4M3, value); }

float e4m3_bits_to_float(std::uint8_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x80u} << 24, magnitude = bits & 0x7f;
  if (magnitude == kNaN) return std::bit_cast<float>(sign | 0x7fc00000);
  if (magnitude >= 8) return std::bit_cast<float>(sign | ((magnitude << 20) + (120u << 23)));
  const float small = static_cast<float>(magnitude) * 0x1p-9f;
  return sign != 0 ? -small : small;
}

std::uint8_t float_to_e5m2_bits(float value) { return rounded_bits(kE5M2, value); }

float e5m2_bits_to_float(std::uint8_t bits) {
  return half_bits_to_float(static_cast<std::uint16_t>(bits << 8));
}

}  // namespace calotype
