#pragma once
// Scalar and vector element types of expressions, Funcs and buffers.

#include <cstdint>
#include <string>

#include "calotype/float16.h"
#include "calotype/float8.h"

namespace calotype {

enum class TypeCode : std::uint8_t {
  Int,     ///< two's complement, 8 to 64 bits
  UInt,    ///< unsigned, 8 to 64 bits; 1 bit is Bool
  Float,   ///< IEEE binary16, binary32, binary64
  BFloat,  ///< bfloat16: the upper half of a binary32
  E4M3,    ///< 8 bits: no infinities, largest value 448 (calotype/float8.h)
  E5M2,    ///< 8 bits: the upper byte of a binary16
};

/// An element type: code, width in bits and number of vector lanes (1 for scalars).
/// A value; compares by all three members.
struct Type {
  TypeCode code = TypeCode::Int;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;

  constexpr bool operator==(const Type&) const = default;

  constexpr bool is_bool() const { return code == TypeCode::UInt && bits == 1; }
  constexpr bool is_int() const { return code == TypeCode::Int; }
  constexpr bool is_uint() const { return code == TypeCode::UInt; }
  constexpr bool is_integral() const { return is_int() || is_uint(); }
  constexpr bool is_float() const { return !is_integral(); }
  /// A float for storage alone: it is loaded, stored, selected and cast, nothing is computed in it.
  constexpr bool is_float8() const { return code == TypeCode::E4M3 || code == TypeCode::E5M2; }
  constexpr bool is_scalar() const { return lanes == 1; }
  constexpr bool is_vector() const { return lanes > 1; }
  /// Bytes that one lane takes in memory (a Bool takes one).
  constexpr int bytes() const { return (bits + 7) / 8; }
  constexpr Type with_lanes(int n) const { return {code, bits, static_cast<std::uint16_t>(n)}; }
  constexpr Type element() const { return with_lanes(1); }

  /// Smallest and largest value of an integer type of at most 64 bits, as int64 (the largest of UInt(64)
  /// saturates to INT64_MAX).
  constexpr std::int64_t min_int() const { return code == TypeCode::Int ? -max_int() - 1 : 0; }
  constexpr std::int64_t max_int() const {
    const int digits = code == TypeCode::Int ? bits - 1 : bits;
    return digits >= 63 ? INT64_MAX : (std::int64_t{1} << digits) - 1;
  }

  /// "f32", "bf16", "e4m3", "u8", "s32", "bool"; vectors append "x8".
  std::string str() const;
  /// The inverse of `str()` for scalars; throws Error(Usage) that lists the legal names.
  static Type parse(const std::string& name);
};

constexpr Type Int(int bits, int lanes = 1) {
  return {TypeCode::Int, static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(lanes)};
}
constexpr Type UInt(int bits, int lanes = 1) {
  return {TypeCode::UInt, static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(lanes)};
}
constexpr Type Float(int bits, int lanes = 1) {
  return {TypeCode::Float, static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(lanes)};
}
constexpr Type BFloat(int bits, int lanes = 1) {
  return {TypeCode::BFloat, static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(lanes)};
}
constexpr Type E4M3(int lanes = 1) { return {TypeCode::E4M3, 8, static_cast<std::uint16_t>(lanes)}; }
constexpr Type E5M2(int lanes = 1) { return {TypeCode::E5M2, 8, static_cast<std::uint16_t>(lanes)}; }
constexpr Type Bool(int lanes = 1) { return UInt(1, lanes); }

/// The Type of a C++ scalar: `type_of<float>() == Float(32)`.
template <class T>
struct TypeOf;
// clang-format off
template <> struct TypeOf<bool> { static constexpr Type value = Bool(); };
template <> struct TypeOf<std::int8_t> { static constexpr Type value = Int(8); };
template <> struct TypeOf<std::int16_t> { static constexpr Type value = Int(16); };
template <> struct TypeOf<std::int32_t> { static constexpr Type value = Int(32); };
template <> struct TypeOf<std::int64_t> { static constexpr Type value = Int(64); };
template <> struct TypeOf<std::uint8_t> { static constexpr Type value = UInt(8); };
template <> struct TypeOf<std::uint16_t> { static constexpr Type value = UInt(16); };
template <> struct TypeOf<std::uint32_t> { static constexpr Type value = UInt(32); };
template <> struct TypeOf<std::uint64_t> { static constexpr Type value = UInt(64); };
template <> struct TypeOf<float16_t> { static constexpr Type value = Float(16); };
template <> struct TypeOf<float> { static constexpr Type value = Float(32); };
template <> struct TypeOf<double> { static constexpr Type value = Float(64); };
template <> struct TypeOf<bfloat16_t> { static constexpr Type value = BFloat(16); };
template <> struct TypeOf<float8_e4m3_t> { static constexpr Type value = E4M3(); };
template <> struct TypeOf<float8_e5m2_t> { static constexpr Type value = E5M2(); };
// clang-format on
template <class T>
constexpr Type type_of() {
  return TypeOf<T>::value;
}

}  // namespace calotype
