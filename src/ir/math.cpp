// The public math functions: floats as they are, integers converted to Float(32).

#include "ir/typing.h"

namespace calotype {

using ir::Op;

namespace {

Expr as_float_operand(const Expr& e) { return e->type.is_float() ? e : ir::convert(Float(32), e); }

Expr unary(Op op, Expr a) {
  ir::require_defined(a, ir::info(op).text);
  a = as_float_operand(a);
  return ir::make_folded(op, a->type, {a});
}

}  // namespace

Expr exp(Expr a) { return unary(Op::Exp, std::move(a)); }
Expr log(Expr a) { return unary(Op::Log, std::move(a)); }
Expr sqrt(Expr a) { return unary(Op::Sqrt, std::move(a)); }
Expr rsqrt(Expr a) { return unary(Op::Rsqrt, std::move(a)); }
Expr tanh(Expr a) { return unary(Op::Tanh, std::move(a)); }
Expr erf(Expr a) { return unary(Op::Erf, std::move(a)); }
Expr sin(Expr a) { return unary(Op::Sin, std::move(a)); }
Expr cos(Expr a) { return unary(Op::Cos, std::move(a)); }
Expr floor(Expr a) { return unary(Op::Floor, std::move(a)); }
Expr ceil(Expr a) { return unary(Op::Ceil, std::move(a)); }
Expr trunc(Expr a) { return unary(Op::Trunc, std::move(a)); }
Expr round(Expr a) { return unary(Op::Round, std::move(a)); }

Expr pow(Expr a, Expr b) {
  ir::match("pow", a, b);
  a = as_float_operand(a);
  b = as_float_operand(b);
  return ir::make_folded(Op::Pow, a->type, {a, b});
}

Expr fast::exp(Expr a) { return unary(Op::FastExp, std::move(a)); }

Expr fast::divide(Expr a, Expr b) {
  ir::match("fast::divide", a, b);
  a = as_float_operand(a);
  b = as_float_operand(b);
  return ir::make_folded(Op::FastDivide, a->type, {a, b});
}

}  // namespace calotype
