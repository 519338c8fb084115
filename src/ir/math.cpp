// The public math functions: floats as they are, integers converted to Float(32).

#include "calotype/math.h"

#include <limits>

#include "ir/typing.h"

namespace calotype {

using ir::Op;

namespace {

Expr as_float_operand(const char* what, const Expr& e) {
  ir::require_wide(what, e);
  return e->type.is_float() ? e : ir::convert(Float(32), e);
}

Expr unary(Op op, Expr a) {
  ir::require_defined(a, ir::info(op).text);
  a = as_float_operand(ir::info(op).text, a);
  return ir::make_folded(op, a->type, {a});
}

Expr binary(Op op, Expr a, Expr b) {
  ir::match(ir::info(op).text, a, b);
  a = as_float_operand(ir::info(op).text, a);
  b = as_float_operand(ir::info(op).text, b);
  return ir::make_folded(op, a->type, {a, b});
}

/// Which kind of number: the operand of a test for it, and infinity in its type.
struct Tested {
  Expr operand, infinity;
};

Tested tested(const char* what, Expr a) {
  ir::require_defined(a, what);
  ir::require_wide(what, a);
  ir::require_operand(a->type.is_float(), what, a, "floats");
  Expr infinity = ir::make_float(a->type, std::numeric_limits<double>::infinity());
  return {std::move(a), std::move(infinity)};
}

}  // namespace

Expr exp(Expr a) { return unary(Op::Exp, std::move(a)); }
Expr exp2(Expr a) { return unary(Op::Exp2, std::move(a)); }
Expr expm1(Expr a) { return unary(Op::Expm1, std::move(a)); }
Expr log(Expr a) { return unary(Op::Log, std::move(a)); }
Expr log2(Expr a) { return unary(Op::Log2, std::move(a)); }
Expr log1p(Expr a) { return unary(Op::Log1p, std::move(a)); }
Expr sqrt(Expr a) { return unary(Op::Sqrt, std::move(a)); }
Expr rsqrt(Expr a) { return unary(Op::Rsqrt, std::move(a)); }
Expr erf(Expr a) { return unary(Op::Erf, std::move(a)); }
Expr sin(Expr a) { return unary(Op::Sin, std::move(a)); }
Expr cos(Expr a) { return unary(Op::Cos, std::move(a)); }
Expr tan(Expr a) { return unary(Op::Tan, std::move(a)); }
Expr asin(Expr a) { return unary(Op::Asin, std::move(a)); }
Expr acos(Expr a) { return unary(Op::Acos, std::move(a)); }
Expr atan(Expr a) { return unary(Op::Atan, std::move(a)); }
Expr sinh(Expr a) { return unary(Op::Sinh, std::move(a)); }
Expr cosh(Expr a) { return unary(Op::Cosh, std::move(a)); }
Expr tanh(Expr a) { return unary(Op::Tanh, std::move(a)); }
Expr asinh(Expr a) { return unary(Op::Asinh, std::move(a)); }
Expr acosh(Expr a) { return unary(Op::Acosh, std::move(a)); }
Expr atanh(Expr a) { return unary(Op::Atanh, std::move(a)); }
Expr floor(Expr a) { return unary(Op::Floor, std::move(a)); }
Expr ceil(Expr a) { return unary(Op::Ceil, std::move(a)); }
Expr trunc(Expr a) { return unary(Op::Trunc, std::move(a)); }
Expr round(Expr a) { return unary(Op::Round, std::move(a)); }
Expr pow(Expr a, Expr b) { return binary(Op::Pow, std::move(a), std::move(b)); }
Expr hypot(Expr a, Expr b) { return binary(Op::Hypot, std::move(a), std::move(b)); }
Expr atan2(Expr y, Expr x) { return binary(Op::Atan2, std::move(y), std::move(x)); }

Expr fma(Expr a, Expr b, Expr c) {
  // Each pair once: whichever operand decides the type is in one of the last two.
  ir::match("fma", a, b);
  ir::match("fma", b, c);
  ir::match("fma", a, c);
  ir::require_operand(!a->type.is_bool(), "fma", a, "numbers");
  ir::require_wide("fma", a);
  return ir::make_folded(Op::Fma, a->type, {a, b, c});
}

Expr is_nan(Expr a) {
  const Tested t = tested("is_nan", std::move(a));
  return t.operand != t.operand;
}

Expr is_inf(Expr a) {
  const Tested t = tested("is_inf", std::move(a));
  return abs(t.operand) == t.infinity;
}

Expr is_finite(Expr a) {
  const Tested t = tested("is_finite", std::move(a));
  return abs(t.operand) < t.infinity;
}

Expr fast::exp(Expr a) { return unary(Op::FastExp, std::move(a)); }
Expr fast::log(Expr a) { return unary(Op::FastLog, std::move(a)); }
Expr fast::sin(Expr a) { return unary(Op::FastSin, std::move(a)); }
Expr fast::cos(Expr a) { return unary(Op::FastCos, std::move(a)); }
Expr fast::tanh(Expr a) { return unary(Op::FastTanh, std::move(a)); }
Expr fast::divide(Expr a, Expr b) { return binary(Op::FastDivide, std::move(a), std::move(b)); }
Expr fast::inverse(Expr a) { return fast::divide(1, std::move(a)); }
Expr fast::inverse_sqrt(Expr a) { return rsqrt(std::move(a)); }

Expr fast::pow(Expr a, Expr b) {
  ir::match("fast::pow", a, b);
  return fast::exp(as_float_operand("fast::pow", b) * fast::log(std::move(a)));
}

}  // namespace calotype
