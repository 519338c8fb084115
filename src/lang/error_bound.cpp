// The running error bound of float operations, to first order.

#include <algorithm>
#include <cmath>

#include "lang/lanes.h"

namespace calotype::lang {

namespace {

using ir::Op;

struct Format {
  double unit;  ///< unit roundoff: half the distance from 1 to the next number
  double tiny;  ///< half the smallest number above 0 (for f64 that number itself)
};

constexpr Format kSingle{0x1p-24, 0x1p-150}, kDouble{0x1p-53, 0x1p-1074};

Format format_of(Type type) {
  if (type.code == TypeCode::BFloat) return {0x1p-8, 0x1p-134};
  if (type.code == TypeCode::E4M3) return {0x1p-4, 0x1p-10};
  if (type.code == TypeCode::E5M2) return {0x1p-3, 0x1p-17};
  if (type.bits == 16) return {0x1p-11, 0x1p-25};
  if (type.bits == 32) return kSingle;
  return kDouble;
}

/// |x| * bound, where no bound means no error whatever x is.
double scaled(double x, double bound) { return bound == 0 ? 0 : std::fabs(x) * bound; }

double rounding(const Format& format, double result) {
  return std::isfinite(result) ? std::fabs(result) * format.unit + format.tiny : 0;
}

/// How far apart two results of a step function can lie when its operand is off by `bound`.
template <class F>
double jump(F f, double a, double bound) {
  return bound == 0 || !std::isfinite(bound) ? bound : f(a + bound) - f(a - bound);
}

/// The bound of a function that is vertical where `rest` = 0, with slope 1 / sqrt(rest) elsewhere and what a
/// square root does near there: within 1.2 * sqrt(2 * bound) on any step.
double near_vertical(double rest, double bound) {
  return std::min(bound / std::sqrt(rest), 1.7 * std::sqrt(bound));
}

/// `propagated` of the functions that are seldom used.
double propagated_seldom(Op op, double a, double bound, double r) {
  switch (op) {
    case Op::Tan:
      return scaled(1 + r * r, bound);
    case Op::Asin:
    case Op::Acos:
      return near_vertical(1 - a * a, bound);
    case Op::Atan:
      return bound / (1 + a * a);
    case Op::Sinh:
      return scaled(std::cosh(a), bound);
    case Op::Cosh:
      return scaled(std::sinh(a), bound);
    case Op::Asinh:
      return bound / std::sqrt(1 + a * a);
    case Op::Acosh:
      return near_vertical(a * a - 1, bound);
    case Op::Atanh:
      return bound / std::fabs(1 - a * a);
    case Op::Exp2:
      return scaled(r * M_LN2, bound);
    case Op::Expm1:
      return scaled(r + 1, bound);
    case Op::Log2:
      return bound / std::fabs(a * M_LN2);
    default:  // log1p
      return bound / std::fabs(1 + a);
  }
}

/// The operand's bound times the size of the derivative, for functions of the math library; r is the result.
double propagated(Op op, double a, double bound, double r) {
  if (bound == 0) return 0;
  switch (op) {
    case Op::Exp:
    case Op::FastExp:
      return scaled(r, bound);
    case Op::Log:
    case Op::FastLog:
      return bound / std::fabs(a);
    case Op::Sqrt:
      return r > 0 ? bound / (2 * r) : std::sqrt(bound);
    case Op::Rsqrt:
      return scaled(r, bound) / (2 * std::fabs(a));
    case Op::Tanh:
    case Op::FastTanh:
      return bound * (1 - r * r);
    case Op::Erf:
      return bound * (2 / std::sqrt(M_PI)) * std::exp(-a * a);
    case Op::Sin:
    case Op::FastSin:
      return bound * std::fabs(std::cos(a));
    case Op::Cos:
    case Op::FastCos:
      return bound * std::fabs(std::sin(a));
    default:
      return propagated_seldom(op, a, bound, r);
  }
}

bool is_step(Op op) { return op == Op::Floor || op == Op::Ceil || op == Op::Trunc || op == Op::Round; }

double step_bound(Op op, double a, double bound) {
  switch (op) {
    case Op::Floor:
      return jump([](double x) { return std::floor(x); }, a, bound);
    case Op::Ceil:
      return jump([](double x) { return std::ceil(x); }, a, bound);
    case Op::Trunc:
      return jump([](double x) { return std::trunc(x); }, a, bound);
    default:
      return jump([](double x) { return std::nearbyint(x); }, a, bound);
  }
}

/// What the fast operations of f32 may be off by, as calotype/math.h says it; in other types they are exact
/// ones.
constexpr double kFastUnits = 8, kFlushed = 0x1p-126;

double fast_exp_error(const Format& format, double a, double r) {
  if (format.unit != kSingle.unit) return 4 * rounding(format, r);
  return (kFastUnits + 2 * std::fabs(a)) * rounding(format, r) + kFlushed;
}

double fast_log_error(const Format& format, double a, double r) {
  if (format.unit != kSingle.unit) return 4 * rounding(format, r);
  return std::fabs(a) < kFlushed ? INFINITY : kFastUnits * (rounding(format, r) + format.unit);
}

/// Of sine and cosine; beyond half a turn two results from -1 to 1 are no further apart than 2.
double fast_wave_error(const Format& format, double a, double r) {
  if (format.unit != kSingle.unit || !std::isfinite(r)) return 4 * rounding(format, r);
  return std::fabs(a) <= M_PI ? 0x1p-21 : 2;
}

double fast_tanh_error(const Format& format, double r) {
  const double exact = 4 * rounding(format, r);
  return format.unit == kSingle.unit ? std::fabs(r) * 0x1p-11 + exact : exact;
}

/// What an operation of one operand is off by itself.
double own_error(Op op, const Format& format, double a, double r) {
  switch (op) {
    case Op::FastExp:
      return fast_exp_error(format, a, r);
    case Op::FastLog:
      return fast_log_error(format, a, r);
    case Op::FastSin:
    case Op::FastCos:
      return fast_wave_error(format, a, r);
    case Op::FastTanh:
      return fast_tanh_error(format, r);
    case Op::Asinh:
    case Op::Acosh:
      return (format.unit == kDouble.unit ? 6 : 4) * rounding(format, r);
    default:  // an ulp is at most two units of roundoff
      return 4 * rounding(format, r);
  }
}

double fast_divide_error(const Format& format, double a, double b, double r) {
  if (format.unit != kSingle.unit) return rounding(format, r);
  if (std::fabs(b) < kFlushed) return INFINITY;
  return kFastUnits * rounding(format, r) + std::fabs(a) * kFlushed;
}

void unary_bounds(Op op, const Format& format, const Lanes& a, Lanes& out, int n) {
  for (int l = 0; l < n; ++l) {
    if (op == Op::Neg || op == Op::Abs) {
      out.bound[l] = a.bound[l];
    } else if (is_step(op)) {
      out.bound[l] = step_bound(op, a.f[l], a.bound[l]);
    } else {
      out.bound[l] = propagated(op, a.f[l], a.bound[l], out.f[l]) + own_error(op, format, a.f[l], out.f[l]);
    }
  }
}

double power_bound(double a, double ba, double b, double bb, double r) {
  const double by_base = ba == 0 ? 0 : scaled(b * std::pow(std::fabs(a), b - 1), ba);
  const double by_exponent = bb == 0 || r == 0 ? 0 : scaled(r * std::log(std::fabs(a)), bb);
  return by_base + by_exponent;
}

/// a - b * floor(a / b): three roundings and the jumps of the floor.
double modulo_bound(const Format& format, double a, double ba, double b, double bb) {
  const double quotient = a / b, whole = std::floor(quotient);
  const double off = (ba + scaled(quotient, bb)) / std::fabs(b) + rounding(format, quotient);
  const double product = b * whole;
  return ba + scaled(whole, bb) + scaled(b, jump([](double x) { return std::floor(x); }, quotient, off)) +
         rounding(format, product) + rounding(format, a);
}

/// Of atan2(y, x). The angle jumps by a turn where y changes its sign and x is negative.
double angle_bound(double y, double by, double x, double bx) {
  if (by == 0 && bx == 0) return 0;
  if (std::fabs(y) <= by && x <= bx) return 2 * M_PI;
  return (scaled(x, by) + scaled(y, bx)) / (x * x + y * y);
}

double binary_bound(Op op, const Format& format, double a, double ba, double b, double bb, double r) {
  switch (op) {
    case Op::Add:
    case Op::Sub:
      return ba + bb + rounding(format, r);
    case Op::Mul:
      return scaled(b, ba) + scaled(a, bb) + rounding(format, r);
    case Op::Div:
      return (ba + scaled(r, bb)) / std::fabs(b) + rounding(format, r);
    case Op::FastDivide:
      return (ba + scaled(r, bb)) / std::fabs(b) + fast_divide_error(format, a, b, r);
    case Op::Min:
    case Op::Max:
      return std::max(ba, bb);
    case Op::Mod:
      return modulo_bound(format, a, ba, b, bb);
    case Op::Atan2:
      return angle_bound(a, ba, b, bb) + 4 * rounding(format, r);
    case Op::Hypot:
      return std::min(ba + bb, (scaled(a, ba) + scaled(b, bb)) / r) + 4 * rounding(format, r);
    default:
      return power_bound(a, ba, b, bb, r) + 4 * rounding(format, r);
  }
}

}  // namespace

double rounding_error(Type type, double result) { return rounding(format_of(type), result); }

bool rounds(Type to, Type from) {
  const auto precision = [](Type t) {
    return t.code == TypeCode::BFloat ? 8
           : t.code == TypeCode::E4M3 ? 4
           : t.code == TypeCode::E5M2 ? 3
           : t.bits == 16             ? 11
           : t.bits == 32             ? 24
                                      : 53;
  };
  if (!from.is_float()) return from.bits - (from.is_int() ? 1 : 0) > precision(to);
  return precision(to) < precision(from) || (to == Float(16) && from == BFloat(16)) ||
         (to == E4M3() && from == E5M2());  // the range is narrower
}

void sum_bounds(Type type, const Lanes& a, const Lanes& b, const double* magnitude, Lanes& out, int n) {
  const Format format = format_of(type);
  for (int l = 0; l < n; ++l) out.bound[l] = a.bound[l] + b.bound[l] + rounding(format, magnitude[l]);
}

void fma_bounds(Type type, const Lanes& a, const Lanes& b, const Lanes& c, Lanes& out, int n) {
  const Format format = format_of(type);
  for (int l = 0; l < n; ++l) {
    out.bound[l] =
        scaled(b.f[l], a.bound[l]) + scaled(a.f[l], b.bound[l]) + c.bound[l] + rounding(format, out.f[l]);
  }
}

void bound_lanes(Op op, Type type, const Lanes& a, const Lanes* b, Lanes& out, int n) {
  const Format format = format_of(type);
  if (b == nullptr) return unary_bounds(op, format, a, out, n);
  for (int l = 0; l < n; ++l) {
    out.bound[l] = binary_bound(op, format, a.f[l], a.bound[l], b->f[l], b->bound[l], out.f[l]);
  }
}

}  // namespace calotype::lang
