// The meaning of each scalar operation: integers by int64 bits, floats in double and rounded to their type.
//
// A double has at least 2p + 2 bits of precision for every narrower format of p bits, so rounding the double
// result of + - * / and sqrt gives the correctly rounded result of the narrow operation.

#include <algorithm>
#include <bit>
#include <cmath>

#include "calotype/float16.h"
#include "ir/value.h"

namespace calotype::ir {

namespace {

using u64 = std::uint64_t;
using i64 = std::int64_t;

i64 floor_div(Type type, i64 a, i64 b) {
  if (b == 0) return 0;
  if (type.is_uint()) return static_cast<i64>(static_cast<u64>(a) / static_cast<u64>(b));
  if (b == -1) return static_cast<i64>(0 - static_cast<u64>(a));  // the smallest value wraps
  const i64 quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

i64 euclidean_mod(Type type, i64 a, i64 b) {
  if (b == 0) return 0;
  if (type.is_uint()) return static_cast<i64>(static_cast<u64>(a) % static_cast<u64>(b));
  if (b == -1) return 0;  // in C++ the smallest value overflows here
  const i64 rest = a % b;
  if (rest >= 0) return rest;
  return static_cast<i64>(static_cast<u64>(rest) + (b < 0 ? 0 - static_cast<u64>(b) : static_cast<u64>(b)));
}

i64 trunc_div(Type type, i64 a, i64 b) {
  if (type.is_uint() || b == 0 || b == -1) return floor_div(type, a, b);
  return a / b;
}

i64 trunc_mod(Type type, i64 a, i64 b) {
  if (type.is_uint() || b == 0 || b == -1) return euclidean_mod(type, a, b);
  return a % b;
}

bool less(Type type, i64 a, i64 b) {
  return type.is_uint() ? static_cast<u64>(a) < static_cast<u64>(b) : a < b;
}

/// Shift by `amount` to the left (or right); a negative amount shifts the other way.
i64 shift(Type type, i64 a, const Value& amount, bool left) {
  u64 distance = static_cast<u64>(amount.i);
  if (amount.type.is_int() && amount.i < 0) {
    distance = 0 - distance;
    left = !left;
  }
  if (distance >= type.bits) return left || type.is_uint() || a >= 0 ? 0 : -1;
  if (left) return static_cast<i64>(static_cast<u64>(a) << distance);
  return type.is_uint() ? static_cast<i64>(static_cast<u64>(a) >> distance) : a >> distance;
}

/// The bits of a value of at most 64, with zeros above the width of its type.
u64 bits_within(Type type, i64 a) {
  return type.bits == 64 ? static_cast<u64>(a) : static_cast<u64>(a) & ((u64{1} << type.bits) - 1);
}

std::optional<i64> int_unary(Op op, Type operand, i64 a) {
  switch (op) {
    case Op::Popcount:
      return std::popcount(bits_within(operand, a));
    case Op::CountLeadingZeros:
      return std::countl_zero(bits_within(operand, a)) - (64 - operand.bits);
    case Op::CountTrailingZeros:
      return std::min<int>(std::countr_zero(bits_within(operand, a)), operand.bits);
    case Op::Neg:
      return static_cast<i64>(0 - static_cast<u64>(a));
    case Op::Abs:
      return operand.is_int() && a < 0 ? static_cast<i64>(0 - static_cast<u64>(a)) : a;
    case Op::Not:
      return a == 0;
    case Op::BitNot:
      return operand.is_bool() ? 1 - a : ~a;
    default:
      return std::nullopt;
  }
}

std::optional<i64> int_binary(Op op, Type t, i64 a, i64 b) {
  const u64 ua = static_cast<u64>(a), ub = static_cast<u64>(b);
  switch (op) {
    case Op::Add:
      return static_cast<i64>(ua + ub);
    case Op::Sub:
      return static_cast<i64>(ua - ub);
    case Op::Mul:
      return static_cast<i64>(ua * ub);
    case Op::Div:
      return floor_div(t, a, b);
    case Op::Mod:
      return euclidean_mod(t, a, b);
    case Op::TruncDiv:
      return trunc_div(t, a, b);
    case Op::TruncMod:
      return trunc_mod(t, a, b);
    case Op::Min:
      return less(t, b, a) ? b : a;
    case Op::Max:
      return less(t, a, b) ? b : a;
    case Op::Eq:
      return a == b;
    case Op::Ne:
      return a != b;
    case Op::Lt:
      return less(t, a, b);
    case Op::Le:
      return !less(t, b, a);
    case Op::And:
    case Op::BitAnd:
      return a & b;
    case Op::Or:
    case Op::BitOr:
      return a | b;
    case Op::BitXor:
      return a ^ b;
    default:
      return std::nullopt;
  }
}

std::optional<bool> float_compare(Op op, double a, double b) {
  switch (op) {
    case Op::Eq:
      return a == b;
    case Op::Ne:
      return a != b;
    case Op::Lt:
      return a < b;
    case Op::Le:
      return a <= b;
    default:
      return std::nullopt;
  }
}

/// The smaller (or larger) one; the other operand for one NaN; -0 below +0.
double float_extreme(double a, double b, bool smaller) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) == smaller ? a : b;
  return (a < b) == smaller ? a : b;
}

std::optional<double> float_binary(Op op, Type t, double a, double b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
    case Op::FastDivide:
      return a / b;
    case Op::Mod:
      return a - round_float(t, b * std::floor(round_float(t, a / b)));
    case Op::Min:
      return float_extreme(a, b, true);
    case Op::Max:
      return float_extreme(a, b, false);
    case Op::Pow:
      return std::pow(a, b);
    case Op::Atan2:
      return std::atan2(a, b);
    case Op::Hypot:
      return std::hypot(a, b);
    default:
      return std::nullopt;
  }
}

/// Functions that are seldom used, by the names of the library.
std::optional<double> less_common(Op op, double a) {
  switch (op) {
    case Op::Tan:
      return std::tan(a);
    case Op::Asin:
      return std::asin(a);
    case Op::Acos:
      return std::acos(a);
    case Op::Atan:
      return std::atan(a);
    case Op::Sinh:
      return std::sinh(a);
    case Op::Cosh:
      return std::cosh(a);
    case Op::Asinh:
      return std::asinh(a);
    case Op::Acosh:
      return std::acosh(a);
    case Op::Atanh:
      return std::atanh(a);
    case Op::Exp2:
      return std::exp2(a);
    case Op::Expm1:
      return std::expm1(a);
    case Op::Log2:
      return std::log2(a);
    case Op::Log1p:
      return std::log1p(a);
    default:
      return std::nullopt;
  }
}

std::optional<double> float_unary(Op op, double a) {
  switch (op) {
    case Op::Neg:
      return -a;
    case Op::Abs:
      return std::abs(a);
    case Op::Exp:
    case Op::FastExp:
      return std::exp(a);
    case Op::Log:
    case Op::FastLog:
      return std::log(a);
    case Op::Sqrt:
      return std::sqrt(a);
    case Op::Rsqrt:
      return 1 / std::sqrt(a);
    case Op::Tanh:
    case Op::FastTanh:
      return std::tanh(a);
    case Op::Erf:
      return std::erf(a);
    case Op::Sin:
    case Op::FastSin:
      return std::sin(a);
    case Op::Cos:
    case Op::FastCos:
      return std::cos(a);
    case Op::Floor:
      return std::floor(a);
    case Op::Ceil:
      return std::ceil(a);
    case Op::Trunc:
      return std::trunc(a);
    case Op::Round:
      return std::nearbyint(a);
    default:
      return less_common(op, a);
  }
}

/// a * b + c rounded once. For the narrower types the product is exact in double; the sum is rounded to odd
/// there, so that the rounding to the type which follows is the only one.
double fused_multiply_add(Type type, double a, double b, double c) {
  if (type.bits == 64) return std::fma(a, b, c);
  const double product = a * b;
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double shadow = sum - product;
  const double error = (product - (sum - shadow)) + (c - shadow);
  if (error == 0 || (std::bit_cast<u64>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

u64 bits_of(const Value& value) {
  if (!value.type.is_float()) return static_cast<u64>(value.i);
  if (value.type.bits == 64) return std::bit_cast<u64>(value.f);
  if (value.type.is_float8()) return float8_bits(value.type, value.f);
  const auto narrow = static_cast<float>(value.f);
  if (value.type.bits == 32) return std::bit_cast<std::uint32_t>(narrow);
  return value.type.code == TypeCode::BFloat ? float_to_bfloat_bits(narrow) : float_to_half_bits(narrow);
}

Value from_bits(Type type, u64 bits) {
  if (!type.is_float()) return Value::of_int(type, static_cast<i64>(bits));
  if (type.bits == 64) return Value::of_float(type, std::bit_cast<double>(bits));
  if (type.bits == 32) return Value::of_float(type, std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (type.is_float8()) return Value::of_float(type, float8_value(type, static_cast<std::uint8_t>(bits)));
  const auto half = static_cast<std::uint16_t>(bits);
  return Value::of_float(
      type, type.code == TypeCode::BFloat ? bfloat_bits_to_float(half) : half_bits_to_float(half));
}

std::optional<Value> as_value(Type type, std::optional<i64> result) {
  if (!result) return std::nullopt;
  return Value::of_int(type, *result);
}

std::optional<Value> as_value(Type type, std::optional<double> result) {
  if (!result) return std::nullopt;
  return Value::of_float(type, *result);
}

std::optional<Value> apply_int(Op op, Type type, std::span<const Value> v) {
  const Type operand = v[0].type;
  if (op == Op::Shl || op == Op::Shr) return Value::of_int(type, shift(operand, v[0].i, v[1], op == Op::Shl));
  if (op == Op::Fma)
    return Value::of_int(type, static_cast<i64>(static_cast<u64>(v[0].i) * static_cast<u64>(v[1].i) +
                                                static_cast<u64>(v[2].i)));
  return as_value(type,
                  v.size() == 1 ? int_unary(op, operand, v[0].i) : int_binary(op, operand, v[0].i, v[1].i));
}

std::optional<Value> apply_float(Op op, Type type, std::span<const Value> v) {
  const Type operand = v[0].type;
  if (op == Op::Fma) return Value::of_float(type, fused_multiply_add(operand, v[0].f, v[1].f, v[2].f));
  if (v.size() == 1) return as_value(type, float_unary(op, v[0].f));
  if (const auto truth = float_compare(op, v[0].f, v[1].f)) return Value::of_int(type, *truth);
  return as_value(type, float_binary(op, operand, v[0].f, v[1].f));
}

}  // namespace

std::optional<Value> apply(Op op, Type type, std::span<const Value> operands) {
  if (operands.empty() || info(op).group == OpGroup::memory || info(op).group == OpGroup::vector) {
    return std::nullopt;
  }
  switch (op) {
    case Op::Let:
      return std::nullopt;
    case Op::Likely:
    case Op::Strict:
    case Op::PromiseClamped:
      return operands[0];
    case Op::Random:
    case Op::Require:
    case Op::Print:
      return std::nullopt;
    case Op::Select:
      return operands[0].i != 0 ? operands[1] : operands[2];
    case Op::Cast:
      return convert(type, operands[0]);
    case Op::Bitcast:
      return from_bits(type, bits_of(operands[0]));
    default:
      break;
  }
  return operands[0].type.is_float() ? apply_float(op, type, operands) : apply_int(op, type, operands);
}

Expr fold(Op op, Type type, const std::vector<Expr>& constants) {
  std::vector<Value> values;
  for (const Expr& e : constants) {
    if (!is_const(e)) return {};
    values.push_back(value_of(e));
  }
  const std::optional<Value> result = apply(op, type, values);
  return result ? make_value(*result) : Expr();
}

}  // namespace calotype::ir
