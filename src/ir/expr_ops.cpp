// Expr's constructors and the public operators on expressions.
//
// Each operator types its operands (typing.h), computes on constants and drops neutral elements where that is
// exact for every value; further rewriting is the simplifier's.

#include <algorithm>

#include "ir/typing.h"

namespace calotype {

using ir::make;
using ir::make_folded;
using ir::Op;

Expr::Expr(bool value) : Expr(ir::make_int(Bool(), value)) {}
Expr::Expr(int value) : Expr(ir::make_int(Int(32), value)) {}
Expr::Expr(unsigned value) : Expr(ir::make_int(UInt(32), value)) {}
Expr::Expr(long value) : Expr(ir::make_int(Int(64), value)) {}
Expr::Expr(unsigned long value) : Expr(ir::make_int(UInt(64), static_cast<std::int64_t>(value))) {}
Expr::Expr(long long value) : Expr(ir::make_int(Int(64), value)) {}
Expr::Expr(unsigned long long value) : Expr(ir::make_int(UInt(64), static_cast<std::int64_t>(value))) {}
Expr::Expr(float value) : Expr(ir::make_float(Float(32), value)) {}
Expr::Expr(double value) : Expr(ir::make_float(Float(64), value)) {}
Expr::Expr(float16_t value) : Expr(ir::make_float(Float(16), value)) {}
Expr::Expr(bfloat16_t value) : Expr(ir::make_float(BFloat(16), value)) {}
Expr::Expr(float8_e4m3_t value) : Expr(ir::make_float(E4M3(), value)) {}
Expr::Expr(float8_e5m2_t value) : Expr(ir::make_float(E5M2(), value)) {}

Type Expr::type() const {
  ir::require_defined(*this, "type");
  return node_->type;
}

std::string Expr::str() const { return ir::to_string(*this); }

namespace {

void require_number(const char* what, const Expr& e) {
  ir::require_wide(what, e);
  ir::require_operand(!e->type.is_bool(), what, e,
                      "numbers; a bool is converted by an explicit cast or select");
}

void require_integer(const char* what, const Expr& e) {
  ir::require_operand(e->type.is_integral(), what, e, "integers or bools");
}

Expr require_bool(const char* what, Expr e) {
  ir::require_defined(e, what);
  ir::require_operand(e->type.is_bool(), what, e, "a bool, as a comparison gives");
  return e;
}

Expr arithmetic(Op op, Expr a, Expr b) {
  const char* what = ir::info(op).text;
  ir::match(what, a, b);
  require_number(what, a);
  return make_folded(op, a->type, {a, b});
}

Expr comparison(Op op, const char* what, Expr a, Expr b) {
  ir::match(what, a, b);
  ir::require_wide(what, a);
  return make_folded(op, Bool(a->type.lanes), {a, b});
}

Expr logic(Op op, Expr a, Expr b) {
  const char* what = ir::info(op).text;
  a = require_bool(what, std::move(a));
  b = require_bool(what, std::move(b));
  ir::match_lanes(what, a, b);
  return make_folded(op, a->type, {a, b});
}

/// Bit operations on integers; on bools they are the logic ones.
Expr bitwise(Op op, Op on_bool, Expr a, Expr b) {
  const char* what = ir::info(op).text;
  ir::match(what, a, b);
  require_integer(what, a);
  return make_folded(a->type.is_bool() ? on_bool : op, a->type, {a, b});
}

/// The result has the signedness of `a`; both sides get the width of the wider one, and the amount keeps its
/// sign.
Expr shift(Op op, Expr a, Expr amount) {
  const char* what = ir::info(op).text;
  ir::require_defined(a, what);
  ir::require_defined(amount, what);
  require_integer(what, a);
  require_integer(what, amount);
  const auto with_bits = [](const Expr& e, int bits) { return e->type.is_int() ? Int(bits) : UInt(bits); };
  if (ir::is_literal(amount) && !ir::is_literal(a)) {
    const bool negative = amount->type.is_int() && *ir::as_int(amount) < 0;
    amount = ir::adopt(what, amount, negative ? Int(a->type.bits) : a->type, a);
  } else if (ir::is_literal(a) && !ir::is_literal(amount)) {
    a = ir::adopt(what, a, amount->type, amount);
  }
  require_number(what, a);
  const int bits = std::max(a->type.bits, amount->type.bits);
  a = ir::convert(with_bits(a, bits), a);
  amount = ir::convert(with_bits(amount, bits), amount);
  ir::match_lanes(what, a, amount);
  return make_folded(op, a->type, {a, amount});
}

bool is_integer_zero(const Expr& e) { return e->type.is_integral() && ir::is_zero(e); }

}  // namespace

Expr operator+(Expr a, Expr b) {
  Expr sum = arithmetic(Op::Add, std::move(a), std::move(b));
  if (!ir::is(sum, Op::Add)) return sum;
  if (is_integer_zero(sum->args[0])) return sum->args[1];
  return is_integer_zero(sum->args[1]) ? sum->args[0] : sum;
}

Expr operator-(Expr a, Expr b) {
  Expr difference = arithmetic(Op::Sub, std::move(a), std::move(b));
  return ir::is(difference, Op::Sub) && is_integer_zero(difference->args[1]) ? difference->args[0]
                                                                             : difference;
}

Expr operator*(Expr a, Expr b) {
  Expr product = arithmetic(Op::Mul, std::move(a), std::move(b));
  if (!ir::is(product, Op::Mul)) return product;
  if (ir::is_one(product->args[0])) return product->args[1];
  return ir::is_one(product->args[1]) ? product->args[0] : product;
}

Expr operator/(Expr a, Expr b) {
  Expr quotient = arithmetic(Op::Div, std::move(a), std::move(b));
  return ir::is(quotient, Op::Div) && ir::is_one(quotient->args[1]) ? quotient->args[0] : quotient;
}

Expr operator%(Expr a, Expr b) { return arithmetic(Op::Mod, std::move(a), std::move(b)); }

Expr operator-(Expr a) {
  ir::require_defined(a, "-");
  require_number("-", a);
  return make_folded(Op::Neg, a->type, {a});
}

Expr& operator+=(Expr& a, Expr b) { return a = a + std::move(b); }
Expr& operator-=(Expr& a, Expr b) { return a = a - std::move(b); }
Expr& operator*=(Expr& a, Expr b) { return a = a * std::move(b); }
Expr& operator/=(Expr& a, Expr b) { return a = a / std::move(b); }

Expr operator==(Expr a, Expr b) { return comparison(Op::Eq, "==", std::move(a), std::move(b)); }
Expr operator!=(Expr a, Expr b) { return comparison(Op::Ne, "!=", std::move(a), std::move(b)); }
Expr operator<(Expr a, Expr b) { return comparison(Op::Lt, "<", std::move(a), std::move(b)); }
Expr operator<=(Expr a, Expr b) { return comparison(Op::Le, "<=", std::move(a), std::move(b)); }
Expr operator>(Expr a, Expr b) { return comparison(Op::Lt, ">", std::move(b), std::move(a)); }
Expr operator>=(Expr a, Expr b) { return comparison(Op::Le, ">=", std::move(b), std::move(a)); }

Expr operator&&(Expr a, Expr b) {
  Expr both = logic(Op::And, std::move(a), std::move(b));
  if (!ir::is(both, Op::And)) return both;
  if (ir::is_one(both->args[0])) return both->args[1];
  return ir::is_one(both->args[1]) ? both->args[0] : both;
}

Expr operator||(Expr a, Expr b) {
  Expr either = logic(Op::Or, std::move(a), std::move(b));
  if (!ir::is(either, Op::Or)) return either;
  if (ir::is_zero(either->args[0])) return either->args[1];
  return ir::is_zero(either->args[1]) ? either->args[0] : either;
}

Expr operator!(Expr a) {
  a = require_bool("!", std::move(a));
  return make_folded(Op::Not, a->type, {a});
}

Expr operator&(Expr a, Expr b) { return bitwise(Op::BitAnd, Op::And, std::move(a), std::move(b)); }
Expr operator|(Expr a, Expr b) { return bitwise(Op::BitOr, Op::Or, std::move(a), std::move(b)); }
Expr operator^(Expr a, Expr b) { return bitwise(Op::BitXor, Op::Ne, std::move(a), std::move(b)); }

Expr operator~(Expr a) {
  ir::require_defined(a, "~");
  require_integer("~", a);
  return make_folded(a->type.is_bool() ? Op::Not : Op::BitNot, a->type, {a});
}

Expr operator<<(Expr a, Expr b) { return shift(Op::Shl, std::move(a), std::move(b)); }
Expr operator>>(Expr a, Expr b) { return shift(Op::Shr, std::move(a), std::move(b)); }

Expr min(Expr a, Expr b) { return arithmetic(Op::Min, std::move(a), std::move(b)); }
Expr max(Expr a, Expr b) { return arithmetic(Op::Max, std::move(a), std::move(b)); }
Expr clamp(Expr a, Expr low, Expr high) { return max(min(std::move(a), std::move(high)), std::move(low)); }

Expr abs(Expr a) {
  ir::require_defined(a, "abs");
  require_number("abs", a);
  if (a->type.is_uint()) return a;
  const Type type = a->type.is_int() ? UInt(a->type.bits, a->type.lanes) : a->type;
  return make_folded(Op::Abs, type, {a});
}

Expr select(Expr condition, Expr a, Expr b) {
  condition = require_bool("select", std::move(condition));
  ir::match("select", a, b);
  ir::match_lanes("select", condition, a);
  ir::match_lanes("select", condition, b);
  if (const auto chosen = ir::as_int(condition)) return *chosen != 0 ? a : b;
  return make(Op::Select, a->type, {condition, a, b});
}

Expr likely(Expr a) {
  ir::require_defined(a, "likely");
  return make(Op::Likely, a->type, {a});
}

Expr strict_float(Expr a) {
  ir::require_defined(a, "strict_float");
  return make(Op::Strict, a->type, {a});
}

}  // namespace calotype
