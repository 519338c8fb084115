#pragma once
// binary16 and bfloat16 as storage types of the host: conversions only, arithmetic happens in float.

#include <cstdint>

namespace calotype {

/// Round a float to binary16 bits, to nearest even; overflow gives infinity, NaN stays NaN.
std::uint16_t float_to_half_bits(float value);
/// The float equal to the given binary16 bits.
float half_bits_to_float(std::uint16_t bits);
/// Round a float to bfloat16 bits, to nearest even; NaN stays NaN.
std::uint16_t float_to_bfloat_bits(float value);
/// The float equal to the given bfloat16 bits.
float bfloat_bits_to_float(std::uint16_t bits);

/// IEEE binary16 in memory.
struct float16_t {
  std::uint16_t bits = 0;
  float16_t() = default;
  explicit float16_t(float value) : bits(float_to_half_bits(value)) {}
  operator float() const { return half_bits_to_float(bits); }
};

/// bfloat16 in memory.
struct bfloat16_t {
  std::uint16_t bits = 0;
  bfloat16_t() = default;
  explicit bfloat16_t(float value) : bits(float_to_bfloat_bits(value)) {}
  operator float() const { return bfloat_bits_to_float(bits); }
};

}  // namespace calotype
