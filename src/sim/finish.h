#pragma once
// How a result is brought into its type: integers wrap, floats round. One struct a type, to be a template
// argument.

#include <bit>
#include <cmath>

#include "ir/value.h"
#include "sim/cell.h"

namespace calotype::sim {

template <class T>
struct Wrap {
  static Cell of(std::int64_t value) { return of_int(static_cast<std::int64_t>(static_cast<T>(value))); }
};

struct RoundF64 {
  static Cell of(double value) { return of_float(value); }
};

struct RoundF32 {
  static Cell of(double value) { return of_float(static_cast<double>(static_cast<float>(value))); }
};

/// A float of `kMantissa` stored bits: rounded on the bits of the double; the ends of the range by
/// ir::round_float.
template <int kMantissa, int kMinExponent, TypeCode kCode>
struct RoundNarrow {
  static Cell of(double value) {
    constexpr double smallest = kMinExponent == -14 ? 0x1p-14 : 0x1p-126;
    constexpr double safe = kMinExponent == -14 ? 0x1p15 : 0x1p127;
    const double magnitude = std::abs(value);
    if (!(magnitude >= smallest && magnitude < safe))
      return of_float(ir::round_float(kCode == TypeCode::BFloat ? BFloat(16) : Float(16), value));
    constexpr int cut = 52 - kMantissa;
    auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t odd = (bits >> cut) & 1;
    bits += (std::uint64_t{1} << (cut - 1)) - 1 + odd;
    bits &= ~((std::uint64_t{1} << cut) - 1);
    return of_float(std::bit_cast<double>(bits));
  }
};
using RoundF16 = RoundNarrow<10, -14, TypeCode::Float>;
using RoundBF16 = RoundNarrow<7, -126, TypeCode::BFloat>;

/// Calls `choose.template with<Finish>()` for the integer type; null for Bool.
template <class Choose>
auto with_int_finish(Type type, Choose choose) -> decltype(choose.template with<Wrap<std::int64_t>>()) {
  if (type.bits == 64) return choose.template with<Wrap<std::int64_t>>();
  if (type.is_bool()) return nullptr;
  if (type.is_int()) {
    if (type.bits == 32) return choose.template with<Wrap<std::int32_t>>();
    return type.bits == 16 ? choose.template with<Wrap<std::int16_t>>()
                           : choose.template with<Wrap<std::int8_t>>();
  }
  if (type.bits == 32) return choose.template with<Wrap<std::uint32_t>>();
  return type.bits == 16 ? choose.template with<Wrap<std::uint16_t>>()
                         : choose.template with<Wrap<std::uint8_t>>();
}

template <class Choose>
auto with_float_finish(Type type, Choose choose) -> decltype(choose.template with<RoundF64>()) {
  if (type.bits == 64) return choose.template with<RoundF64>();
  if (type.bits == 32) return choose.template with<RoundF32>();
  return type.code == TypeCode::BFloat ? choose.template with<RoundBF16>() : choose.template with<RoundF16>();
}

}  // namespace calotype::sim
