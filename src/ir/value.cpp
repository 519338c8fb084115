// Scalar values: wrapping, rounding and conversion between types.

#include "ir/value.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "calotype/float8.h"

namespace calotype::ir {

namespace {

/// Round to `precision` significant bits with exponents from `min_exponent` (subnormals below), to nearest
/// even.
double round_to_precision(double value, int precision, int min_exponent, double largest) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), min_exponent);
  const int quantum = exponent - (precision - 1);
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -quantum)), quantum);
  return std::abs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                     : rounded;
}

/// A double of the given magnitude whose last bit records whether anything was cut off, so that rounding it
/// further to a narrower type rounds the integer only once.
double sticky_double(std::uint64_t magnitude) {
  const int excess = std::bit_width(magnitude) - 53;
  if (excess <= 0) return static_cast<double>(magnitude);
  const bool cut = (magnitude & ((std::uint64_t{1} << excess) - 1)) != 0;
  return std::ldexp(static_cast<double>((magnitude >> excess) | (cut ? 1 : 0)), excess);
}

double int_to_float(Type type, const Value& value) {
  const auto bits = static_cast<std::uint64_t>(value.i);
  const bool negative = value.type.is_int() && value.i < 0;
  const std::uint64_t magnitude = negative ? 0 - bits : bits;
  const double exact = type.bits == 64 ? static_cast<double>(magnitude) : sticky_double(magnitude);
  return round_float(type, negative ? -exact : exact);
}

std::int64_t float_to_int(Type type, double value) {
  if (std::isnan(value)) return 0;
  const double whole = std::trunc(value);
  if (type.is_uint() && type.bits == 64) {
    if (whole <= 0) return 0;
    return static_cast<std::int64_t>(whole >= 0x1p64 ? UINT64_MAX : static_cast<std::uint64_t>(whole));
  }
  // The limits of narrower types are exact doubles; 2^63 - 1 is not, but the first double beyond it is.
  if (whole >= 0x1p63 || (type.bits < 64 && whole >= static_cast<double>(type.max_int())))
    return type.max_int();
  if (whole <= static_cast<double>(type.min_int())) return type.min_int();
  return static_cast<std::int64_t>(whole);
}

}  // namespace

std::int64_t wrap_int(Type type, std::int64_t value) {
  if (type.is_bool()) return value != 0 ? 1 : 0;
  if (type.bits >= 64) return value;
  const int unused = 64 - type.bits;
  const std::uint64_t raised = static_cast<std::uint64_t>(value) << unused;
  if (type.is_uint()) return static_cast<std::int64_t>(raised >> unused);
  return static_cast<std::int64_t>(raised) >> unused;
}

double largest_float8(Type type) { return type.code == TypeCode::E4M3 ? 448 : 57344; }

double saturate_float8(Type type, double value) {
  if (std::isnan(value)) return float8_value(type, 0x7f);
  return std::clamp(value, -largest_float8(type), largest_float8(type));
}

std::uint8_t float8_bits(Type type, double value) {
  const auto narrow = static_cast<float>(value);
  // An upper half of a binary16 has infinities and NaNs too.
  if (type.code == TypeCode::E5M2) return static_cast<std::uint8_t>(float_to_half_bits(narrow) >> 8);
  return std::isnan(value) && std::signbit(value) ? 0xff : float_to_e4m3_bits(narrow);
}

double float8_value(Type type, std::uint8_t bits) {
  return type.code == TypeCode::E4M3 ? e4m3_bits_to_float(bits) : e5m2_bits_to_float(bits);
}

double round_float(Type type, double value) {
  if (type.is_float8()) {
    const bool e4m3 = type.code == TypeCode::E4M3;
    const double within = std::isinf(value) && !e4m3 ? value : saturate_float8(type, value);
    // NaNs keep their bits: only conversions make the one NaN of them.
    return std::isnan(value) ? value : round_to_precision(within, e4m3 ? 4 : 3, e4m3 ? -6 : -14, INFINITY);
  }
  if (type.code == TypeCode::BFloat) return round_to_precision(value, 8, -126, 0x1.fep127);
  if (type.bits == 16) return round_to_precision(value, 11, -14, 65504.0);
  return type.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value;
}

Value Value::of_int(Type type, std::int64_t value) {
  Value result{type.element(), {}};
  result.i = wrap_int(type, value);
  return result;
}

Value Value::of_float(Type type, double value) {
  Value result{type.element(), {}};
  result.f = round_float(type, value);
  return result;
}

Value convert(Type type, Value value) {
  const bool from_float = value.type.is_float();
  if (type.is_float()) {
    const double number = from_float ? value.f : int_to_float(type, value);
    return Value::of_float(type, type.is_float8() ? saturate_float8(type, number) : number);
  }
  if (!from_float) return Value::of_int(type, value.i);
  return Value::of_int(type, type.is_bool() ? value.f != 0 : float_to_int(type, value.f));
}

Value value_of(const Expr& constant) {
  Value value{constant->type.element(), {}};
  if (value.type.is_float()) {
    value.f = std::get<double>(constant->attr);
  } else {
    value.i = std::get<std::int64_t>(constant->attr);
  }
  return value;
}

Expr make_value(const Value& value) {
  return value.type.is_float() ? make_float(value.type, value.f) : make_int(value.type, value.i);
}

}  // namespace calotype::ir
