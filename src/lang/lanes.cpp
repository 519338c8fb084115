// Arithmetic on batches of points. The meaning of each operation is that of ir::apply (a test compares the
// two); here the choice of operation and type is made once a batch.

// Each operation rounds once: no contraction of a product and a sum (compilers do it within expressions only,
// and there is none here that has both).

#include "lang/lanes.h"

#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "ir/value.h"

namespace calotype::lang {

namespace {

using i64 = std::int64_t;
using u64 = std::uint64_t;
using ir::Op;

template <class A, class R, class F>
void map1(const A* a, R* out, int n, F f) {
  for (int l = 0; l < n; ++l) out[l] = f(a[l]);
}

template <class A, class R, class F>
void map2(const A* a, const A* b, R* out, int n, F f) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): operations of two operands have both
  for (int l = 0; l < n; ++l) out[l] = f(a[l], b[l]);
}

i64 wrap_add(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) + static_cast<u64>(b)); }
i64 wrap_sub(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) - static_cast<u64>(b)); }
i64 wrap_mul(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) * static_cast<u64>(b)); }

/// Operations that have no loop of their own: a lane at a time through ir::apply.
void apply_each(Op op, Type type, Type operand, const Lanes* a, const Lanes* b, Lanes& out, int n) {
  for (int l = 0; l < n; ++l) {
    std::array<ir::Value, 2> values;
    const auto value = [&](const Lanes* lanes, Type of) {
      ir::Value v{of, {}};
      if (of.is_float()) {
        v.f = lanes->f[l];
      } else {
        v.i = lanes->i[l];
      }
      return v;
    };
    // What is shifted has the type of the result; the amount may differ from it in sign.
    values[0] = value(a, op == Op::Shl || op == Op::Shr ? type : operand);
    if (b != nullptr) values[1] = value(b, operand);
    const ir::Value result = ir::apply(op, type, std::span(values.data(), b != nullptr ? 2 : 1)).value();
    if (type.is_float()) {
      out.f[l] = result.f;
    } else {
      out.i[l] = result.i;
    }
  }
}

/// Comparisons, minimum and maximum order 64-bit unsigned values by their bits; all others are ordered as
/// int64.
template <class T>
bool ordered_lanes(Op op, const i64* a, const i64* b, i64* out, int n) {
  const auto as = [](i64 v) { return static_cast<T>(v); };
  switch (op) {
    case Op::Eq:
      map2(a, b, out, n, [](i64 x, i64 y) -> i64 { return x == y; });
      return true;
    case Op::Ne:
      map2(a, b, out, n, [](i64 x, i64 y) -> i64 { return x != y; });
      return true;
    case Op::Lt:
      map2(a, b, out, n, [&](i64 x, i64 y) -> i64 { return as(x) < as(y); });
      return true;
    case Op::Le:
      map2(a, b, out, n, [&](i64 x, i64 y) -> i64 { return as(x) <= as(y); });
      return true;
    case Op::Min:
      map2(a, b, out, n, [&](i64 x, i64 y) { return as(y) < as(x) ? y : x; });
      return true;
    case Op::Max:
      map2(a, b, out, n, [&](i64 x, i64 y) { return as(x) < as(y) ? y : x; });
      return true;
    default:
      return false;
  }
}

i64 floor_div(i64 a, i64 b) {
  if (b == 0) return 0;
  if (b == -1) return wrap_sub(0, a);
  const i64 quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

i64 euclidean_mod(i64 a, i64 b) {
  if (b == 0 || b == -1) return 0;
  const i64 rest = a % b;
  return rest >= 0 ? rest : b < 0 ? wrap_sub(rest, b) : rest + b;
}

/// Integer operations with a loop of their own; false for others. Not yet wrapped to the type.
bool int_lanes(Op op, Type operand, const i64* a, const i64* b, i64* out, int n) {
  const bool bits64 = operand == UInt(64);
  if (bits64 ? ordered_lanes<u64>(op, a, b, out, n) : ordered_lanes<i64>(op, a, b, out, n)) return true;
  switch (op) {
    case Op::Add:
      map2(a, b, out, n, wrap_add);
      return true;
    case Op::Sub:
      map2(a, b, out, n, wrap_sub);
      return true;
    case Op::Mul:
      map2(a, b, out, n, wrap_mul);
      return true;
    case Op::And:
    case Op::BitAnd:
      map2(a, b, out, n, [](i64 x, i64 y) { return x & y; });
      return true;
    case Op::Or:
    case Op::BitOr:
      map2(a, b, out, n, [](i64 x, i64 y) { return x | y; });
      return true;
    case Op::BitXor:
      map2(a, b, out, n, [](i64 x, i64 y) { return x ^ y; });
      return true;
    case Op::Not:
      map1(a, out, n, [](i64 x) -> i64 { return x == 0; });
      return true;
    case Op::Neg:
      map1(a, out, n, [](i64 x) { return wrap_sub(0, x); });
      return true;
    case Op::Abs:
      map1(a, out, n, [](i64 x) { return x < 0 ? wrap_sub(0, x) : x; });
      return operand.is_int();
    case Op::Div:
      if (!bits64) map2(a, b, out, n, floor_div);
      return !bits64;
    case Op::Mod:
      if (!bits64) map2(a, b, out, n, euclidean_mod);
      return !bits64;
    default:
      return false;
  }
}

bool compare_floats(Op op, const double* a, const double* b, i64* out, int n) {
  switch (op) {
    case Op::Eq:
      map2(a, b, out, n, [](double x, double y) -> i64 { return x == y; });
      return true;
    case Op::Ne:
      map2(a, b, out, n, [](double x, double y) -> i64 { return x != y; });
      return true;
    case Op::Lt:
      map2(a, b, out, n, [](double x, double y) -> i64 { return x < y; });
      return true;
    case Op::Le:
      map2(a, b, out, n, [](double x, double y) -> i64 { return x <= y; });
      return true;
    default:
      return false;
  }
}

/// The smaller (or larger) one; the other operand for one NaN; -0 below +0.
template <bool smaller>
double extreme(double a, double b) {
  if (a < b) return smaller ? a : b;
  if (b < a) return smaller ? b : a;
  if (a == b) return std::signbit(a) == smaller ? a : b;
  return std::isnan(a) ? b : a;
}

/// Arithmetic and rounding functions on doubles; false for others.
bool arithmetic_lanes(Op op, const double* a, const double* b, double* out, int n) {
  switch (op) {
    case Op::Add:
      map2(a, b, out, n, [](double x, double y) { return x + y; });
      return true;
    case Op::Sub:
      map2(a, b, out, n, [](double x, double y) { return x - y; });
      return true;
    case Op::Mul:
      map2(a, b, out, n, [](double x, double y) { return x * y; });
      return true;
    case Op::Div:
    case Op::FastDivide:
      map2(a, b, out, n, [](double x, double y) { return x / y; });
      return true;
    case Op::Min:
      map2(a, b, out, n, extreme<true>);
      return true;
    case Op::Max:
      map2(a, b, out, n, extreme<false>);
      return true;
    case Op::Neg:
      map1(a, out, n, [](double x) { return -x; });
      return true;
    case Op::Abs:
      map1(a, out, n, [](double x) { return std::fabs(x); });
      return true;
    case Op::Floor:
      map1(a, out, n, [](double x) { return std::floor(x); });
      return true;
    case Op::Ceil:
      map1(a, out, n, [](double x) { return std::ceil(x); });
      return true;
    case Op::Trunc:
      map1(a, out, n, [](double x) { return std::trunc(x); });
      return true;
    case Op::Round:
      map1(a, out, n, [](double x) { return std::nearbyint(x); });
      return true;
    default:
      return false;
  }
}

/// Functions of the math library; false for others.
bool math_lanes(Op op, const double* a, double* out, int n) {
  switch (op) {
    case Op::Exp:
    case Op::FastExp:
      map1(a, out, n, [](double x) { return std::exp(x); });
      return true;
    case Op::Log:
    case Op::FastLog:
      map1(a, out, n, [](double x) { return std::log(x); });
      return true;
    case Op::Sqrt:
      map1(a, out, n, [](double x) { return std::sqrt(x); });
      return true;
    case Op::Rsqrt:
      map1(a, out, n, [](double x) { return 1 / std::sqrt(x); });
      return true;
    case Op::Tanh:
    case Op::FastTanh:
      map1(a, out, n, [](double x) { return std::tanh(x); });
      return true;
    case Op::Erf:
      map1(a, out, n, [](double x) { return std::erf(x); });
      return true;
    case Op::Sin:
    case Op::FastSin:
      map1(a, out, n, [](double x) { return std::sin(x); });
      return true;
    case Op::Cos:
    case Op::FastCos:
      map1(a, out, n, [](double x) { return std::cos(x); });
      return true;
    default:
      return false;
  }
}

/// Rounds a double to `precision` bits by its bit pattern, where the result is a normal number of the narrow
/// type; the rest goes through ir::round_float.
double round_narrow(Type type, double value, int precision, double smallest, double largest) {
  const double size = std::fabs(value);
  if (!(size >= smallest && size < largest)) return value == 0 ? value : ir::round_float(type, value);
  const int cut = 53 - precision;
  const u64 bits = std::bit_cast<u64>(value);
  const u64 rounded = bits + (u64{1} << (cut - 1)) - 1 + ((bits >> cut) & 1);
  return std::bit_cast<double>(rounded >> cut << cut);
}

void cast_lanes(Type type, Type from, const Lanes& a, Lanes& out, int n, bool with_error) {
  if (from.is_float() && type.is_float()) {
    map1(a.f, out.f, n, [](double x) { return x; });
    if (type.is_float8()) map1(out.f, out.f, n, [=](double x) { return ir::saturate_float8(type, x); });
    round_lanes(type, out.f, n);
  } else if (!from.is_float() && !type.is_float()) {
    map1(a.i, out.i, n, [](i64 x) { return x; });
    wrap_lanes(type, out.i, n);
  } else if (type.is_float() && from.bits <= 32) {
    map1(a.i, out.f, n, [](i64 x) { return static_cast<double>(x); });  // exact
    if (type.is_float8()) map1(out.f, out.f, n, [=](double x) { return ir::saturate_float8(type, x); });
    round_lanes(type, out.f, n);
  } else {
    apply_each(Op::Cast, type, from, &a, nullptr, out, n);
  }
  if (!with_error || !type.is_float()) return;
  for (int l = 0; l < n; ++l) {
    const double whole =
        from == UInt(64) ? static_cast<double>(static_cast<u64>(a.i[l])) : static_cast<double>(a.i[l]);
    out.exact[l] = from.is_float() ? a.exact[l] : whole;
    if (type.is_float8()) out.exact[l] = ir::saturate_float8(type, out.exact[l]);
    out.bound[l] =
        (from.is_float() ? a.bound[l] : 0) + (rounds(type, from) ? rounding_error(type, out.f[l]) : 0);
  }
}

void select_lanes(Type type, const Lanes& condition, const Lanes& a, const Lanes& b, Lanes& out, int n,
                  bool with_error) {
  for (int l = 0; l < n; ++l) {
    const Lanes& chosen = condition.i[l] != 0 ? a : b;
    if (type.is_float()) {
      out.f[l] = chosen.f[l];
    } else {
      out.i[l] = chosen.i[l];
    }
    if (!with_error || !type.is_float()) continue;
    out.exact[l] = chosen.exact[l];
    out.bound[l] = chosen.bound[l];
  }
}

/// Whatever has no other rule: exact is the value itself.
void adopt_values(Lanes& out, int n) {
  for (int l = 0; l < n; ++l) {
    out.exact[l] = out.f[l];
    out.bound[l] = 0;
  }
}

}  // namespace

void wrap_lanes(Type type, i64* values, int n) {
  if (type.bits >= 64) return;
  if (type.is_bool()) return map1(values, values, n, [](i64 x) -> i64 { return x != 0; });
  const int unused = 64 - type.bits;
  if (type.is_uint()) {
    map1(values, values, n, [=](i64 x) { return static_cast<i64>(static_cast<u64>(x) << unused >> unused); });
  } else {
    map1(values, values, n, [=](i64 x) { return static_cast<i64>(static_cast<u64>(x) << unused) >> unused; });
  }
}

void round_lanes(Type type, double* values, int n) {
  if (type.bits == 64) return;
  if (type.bits == 32)
    return map1(values, values, n, [](double x) -> double { return static_cast<float>(x); });
  if (type.is_float8()) return map1(values, values, n, [=](double x) { return ir::round_float(type, x); });
  const bool brain = type.code == TypeCode::BFloat;
  const int precision = brain ? 8 : 11;
  // Below the largest value the rounded result is at most that, so no overflow can arise.
  const double smallest = brain ? 0x1p-126 : 0x1p-14, largest = brain ? 0x1.fep127 : 65504.0;
  map1(values, values, n, [=](double x) { return round_narrow(type, x, precision, smallest, largest); });
}

void float_lanes(Op op, Type type, const double* a, const double* b, double* out, int n) {
  if (arithmetic_lanes(op, a, b, out, n) || math_lanes(op, a, out, n)) return round_lanes(type, out, n);
  for (int l = 0; l < n; ++l) {
    std::array<ir::Value, 2> values{ir::Value::of_float(type, a[l]),
                                    ir::Value::of_float(type, b != nullptr ? b[l] : 0)};
    out[l] = ir::apply(op, type, std::span(values.data(), b != nullptr ? 2 : 1)).value().f;
  }
}

namespace {

/// a * b + c of floats, rounded once.
void fma_lanes(Type type, const Lanes& a, const Lanes& b, const Lanes& c, Lanes& out, int n,
               bool with_error) {
  for (int l = 0; l < n; ++l) {
    const std::array operands{ir::Value::of_float(type, a.f[l]), ir::Value::of_float(type, b.f[l]),
                              ir::Value::of_float(type, c.f[l])};
    out.f[l] = ir::apply(Op::Fma, type, operands).value().f;
  }
  if (!with_error) return;
  for (int l = 0; l < n; ++l) out.exact[l] = std::fma(a.exact[l], b.exact[l], c.exact[l]);
  fma_bounds(type, a, b, c, out, n);
}

}  // namespace

void apply_lanes(Op op, Type type, Type operand, const Lanes* a, const Lanes* b, const Lanes* c, Lanes& out,
                 int n, bool with_error) {
  if (op == Op::Select) return select_lanes(type, *a, *b, *c, out, n, with_error);
  if (op == Op::Cast) return cast_lanes(type, operand, *a, out, n, with_error);
  if (op == Op::Fma && type.is_float()) return fma_lanes(type, *a, *b, *c, out, n, with_error);
  if (op == Op::Fma) {
    for (int l = 0; l < n; ++l) out.i[l] = wrap_add(wrap_mul(a->i[l], b->i[l]), c->i[l]);
    return wrap_lanes(type, out.i, n);
  }
  if (op == Op::Bitcast) {
    apply_each(op, type, operand, a, b, out, n);
    if (with_error && type.is_float()) adopt_values(out, n);
  } else if (!operand.is_float()) {
    if (!int_lanes(op, operand, a->i, b != nullptr ? b->i : nullptr, out.i, n)) {
      apply_each(op, type, operand, a, b, out, n);
    }
    wrap_lanes(type, out.i, n);
  } else if (!type.is_float()) {
    compare_floats(op, a->f, b->f, out.i, n);
  } else {
    float_lanes(op, type, a->f, b != nullptr ? b->f : nullptr, out.f, n);
    if (!with_error) return;
    float_lanes(op, Float(64), a->exact, b != nullptr ? b->exact : nullptr, out.exact, n);
    bound_lanes(op, type, *a, b, out, n);
  }
}

}  // namespace calotype::lang
