#pragma once
// Operands for every operation and what must come out, from the one definition of the language's arithmetic.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "calotype/float16.h"
#include "ir/value.h"
#include "samples.h"

namespace calotype_test {

/// Elements of one type in memory.
inline void write_element(Type t, void* memory, std::size_t i, const ir::Value& v) {
  char* at = static_cast<char*>(memory) + i * static_cast<std::size_t>(t.bytes());
  if (t.is_integral()) {
    std::memcpy(at, &v.i, static_cast<std::size_t>(t.bytes()));
  } else if (t.bits == 64) {
    std::memcpy(at, &v.f, 8);
  } else if (t.bits == 32) {
    const auto f = static_cast<float>(v.f);
    std::memcpy(at, &f, 4);
  } else {
    const auto f = static_cast<float>(v.f);
    const std::uint16_t bits = t.code == TypeCode::BFloat ? float_to_bfloat_bits(f) : float_to_half_bits(f);
    std::memcpy(at, &bits, 2);
  }
}

inline ir::Value read_element(Type t, const void* memory, std::size_t i) {
  const char* at = static_cast<const char*>(memory) + i * static_cast<std::size_t>(t.bytes());
  if (t.is_integral()) {
    std::int64_t value = 0;
    std::memcpy(&value, at, static_cast<std::size_t>(t.bytes()));
    return ir::Value::of_int(t, value);
  }
  if (t.bits == 64) {
    double f;
    std::memcpy(&f, at, 8);
    return ir::Value::of_float(t, f);
  }
  if (t.bits == 32) {
    float f;
    std::memcpy(&f, at, 4);
    return ir::Value::of_float(t, f);
  }
  std::uint16_t bits;
  std::memcpy(&bits, at, 2);
  return ir::Value::of_float(
      t, t.code == TypeCode::BFloat ? bfloat_bits_to_float(bits) : half_bits_to_float(bits));
}

/// Ends of the range, small numbers, and numbers of every magnitude.
inline ir::Value draw(Type t, std::mt19937_64& random) {
  if (t.is_integral()) {
    const std::int64_t ends[] = {
        0, 1, -1, 2, 3, -7, t.min_int(), t.max_int(), t.min_int() + 1, t.bits - 1, t.bits, -t.bits};
    if (random() % 3 == 0) return ir::Value::of_int(t, ends[random() % std::size(ends)]);
    return ir::Value::of_int(t, static_cast<std::int64_t>(random()) >> (random() % 63));
  }
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double ends[] = {0.0,          -0.0,         1.0,           -1.0,   0.5,    1.5,   2.5,
                         inf,          -inf,         nan,           127.5,  -129.0, 255.5, 65504.0,
                         2147483647.0, 2147483648.0, -2147483649.0, 9.3e18, 1.9e19, 1e-40, 3.3895e38};
  if (random() % 3 == 0) return ir::Value::of_float(t, ends[random() % std::size(ends)]);
  std::uniform_real_distribution<double> unit(-1, 1);
  return ir::Value::of_float(t, std::ldexp(unit(random), static_cast<int>(random() % 24) - 8));
}

/// What the operation must give. Math functions may be 2 ulp off.
inline ir::Value expected(const Operation& o, const std::vector<ir::Value>& operands) {
  std::vector<ir::Value> args = operands;
  if (o.op == Op::Select)
    args[0] = *ir::apply(Op::Lt, Bool(), std::vector<ir::Value>{operands[0], operands[1]});
  args.resize(static_cast<std::size_t>(o.arity));
  return *ir::apply(o.op, o.result, args);
}

/// Units in the last place between two floats of a type, 0 for two NaNs; a huge number if only one is a NaN.
inline double ulps_apart(Type t, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : 1e30;
  if (a == b) return 0;
  if (std::isinf(a) || std::isinf(b)) return 1e30;
  const int digits = t.code == TypeCode::BFloat ? 8 : t.bits == 16 ? 11 : t.bits == 32 ? 24 : 53;
  const int least = t.code == TypeCode::BFloat || t.bits == 32 ? -126 : t.bits == 16 ? -14 : -1022;
  const int exponent = std::max(std::ilogb(std::max(std::abs(a), std::abs(b))), least);
  return std::abs(a - b) / std::ldexp(1.0, exponent - digits + 1);
}

inline bool is_math(const Operation& o) {
  return ir::info(o.op).group == ir::OpGroup::math && o.op != Op::Floor && o.op != Op::Ceil &&
         o.op != Op::Trunc && o.op != Op::Round && o.op != Op::Sqrt;
}

/// Within the errors that calotype/math.h gives for the fast operations of f32.
inline bool agrees_fast(const Operation& o, double got, double want, const std::vector<ir::Value>& operands) {
  const double a = operands[0].f, b = operands[1].f, least = 0x1p-126;
  if (o.op == Op::FastExp)
    return std::abs(got - want) <= std::abs(want) * (0x1p-21 + std::abs(a) * 0x1p-23) + least;
  if (o.op == Op::FastLog) return a < least || std::abs(got - want) <= 0x1p-21 + std::abs(want) * 0x1p-21;
  if (o.op == Op::FastSin || o.op == Op::FastCos)
    return std::isfinite(want) && std::abs(got - want) <= (std::abs(a) <= M_PI ? 0x1p-21 : 2);
  if (o.op == Op::FastTanh) return std::abs(got - want) <= std::abs(want) * 0x1p-11;
  const bool in_domain = std::isfinite(a) && (b == 0 || std::abs(b) >= least);
  return !in_domain || std::abs(got - want) <= std::abs(want) * 0x1p-21 + std::abs(a) * least;
}

inline bool agrees(const Operation& o, const ir::Value& got, const ir::Value& want,
                   const std::vector<ir::Value>& operands) {
  if (!o.result.is_float()) return got.i == want.i;
  constexpr Op fast_ops[] = {Op::FastExp, Op::FastLog,  Op::FastSin,
                             Op::FastCos, Op::FastTanh, Op::FastDivide};
  const bool fast = std::find(std::begin(fast_ops), std::end(fast_ops), o.op) != std::end(fast_ops);
  if (fast && o.result == Float(32) && agrees_fast(o, got.f, want.f, operands)) return true;
  const bool three = o.result == Float(64) && (o.op == Op::Asinh || o.op == Op::Acosh);
  const double allowed = three ? 3 : is_math(o) ? 2 : 0;
  // Bits of a NaN, and its sign, are free; so is the sign of the zero that min and max of two zeros give.
  return ulps_apart(o.result, got.f, want.f) <= allowed;
}

}  // namespace calotype_test
