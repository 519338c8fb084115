#pragma once
// The 8-bit floats in memory: conversions only. They are for storage; arithmetic happens in a wider type.
//
// e4m3: 4 bits of exponent with bias 7, 3 of fraction; no infinities, so that the largest value is 448; the
// two patterns with all bits but the sign set are NaN (the format that others call e4m3fn). e5m2: the upper
// byte of a binary16: bias 15, largest finite value 57344, infinities and NaNs.
//
// A conversion to either rounds to nearest, ties to even, and saturates: what lies beyond the largest finite
// value, infinities too, becomes that value with its sign; NaN becomes 0x7f. That is what the conversion
// instructions of NVIDIA GPUs (cvt.rn.satfinite) do.

#include <cstdint>

namespace calotype {

/// Round a float to e4m3 bits.
std::uint8_t float_to_e4m3_bits(float value);
/// The float equal to the given e4m3 bits; a NaN keeps its sign.
float e4m3_bits_to_float(std::uint8_t bits);
/// Round a float to e5m2 bits.
std::uint8_t float_to_e5m2_bits(float value);
/// The float equal to the given e5m2 bits.
float e5m2_bits_to_float(std::uint8_t bits);

/// e4m3 in memory.
struct float8_e4m3_t {
  std::uint8_t bits = 0;
  float8_e4m3_t() = default;
  explicit float8_e4m3_t(float value) : bits(float_to_e4m3_bits(value)) {}
  operator float() const { return e4m3_bits_to_float(bits); }
};

/// e5m2 in memory.
struct float8_e5m2_t {
  std::uint8_t bits = 0;
  float8_e5m2_t() = default;
  explicit float8_e5m2_t(float value) : bits(float_to_e5m2_bits(value)) {}
  operator float() const { return e5m2_bits_to_float(bits); }
};

}  // namespace calotype
