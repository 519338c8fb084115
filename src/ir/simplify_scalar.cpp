// Casts, bit operations, arithmetic of floats and of narrow integers, and what is left: only exact rewrites.
#include "ir/simplify_rules.h"

namespace calotype::ir::algebra {

namespace {

bool all_const(const Expr& e) {
  for (const Expr& a : e->args)
    if (!is_const(a) || !a->type.is_scalar()) return false;
  return !e->args.empty();
}

/// The fold of an operation whose operands are constants, or undefined.
Expr folded(const Expr& e) { return all_const(e) ? fold(e->op, e->type, e->args) : Expr(); }

bool is_float_const(const Expr& e, double v) {
  const auto c = as_float(e);
  return c && *c == v;
}

Expr float_identity(const Expr& e) {
  const Expr& a = e->args[0];
  if (e->op == Op::Neg) return is(a, Op::Neg) ? a->args[0] : e;
  const Expr& b = e->args[1];
  switch (e->op) {
    case Op::Mul:
      return is_float_const(b, 1) ? a : is_float_const(a, 1) ? b : e;
    case Op::Div:
      return is_float_const(b, 1) ? a : e;
    case Op::Min:
    case Op::Max:
      return equal(a, b) ? a : e;
    default:
      return e;  // x + 0 is not x for x = -0
  }
}

Expr integer_identity(const Expr& e) {
  const Expr& a = e->args[0];
  const Type type = e->type;
  if (e->op == Op::Neg) return is(a, Op::Neg) ? a->args[0] : e;
  const Expr& b = e->args[1];
  switch (e->op) {
    case Op::Add:
      if (is_zero(a)) return b;
      if (is_zero(b)) return a;
      // (x + c) + d
      if (is_const(b) && is(a, Op::Add) && is_const(a->args[1]))
        return make(Op::Add, type, {a->args[0], fold(Op::Add, type, {a->args[1], b})});
      return is_const(a) ? make(Op::Add, type, {b, a}) : e;
    case Op::Sub:
      if (equal(a, b)) return make_zero(type);
      return is_zero(b) ? a : e;
    case Op::Mul:
      if (is_zero(a) || is_one(b)) return a;
      if (is_zero(b) || is_one(a)) return b;
      return is_const(a) ? make(Op::Mul, type, {b, a}) : e;
    default:
      return e;
  }
}

}  // namespace

Expr Simplifier::plain_arithmetic(const Expr& e) {
  if (Expr c = folded(e); c.defined()) return c;
  return e->type.is_float() ? float_identity(e) : integer_identity(e);
}

Expr Simplifier::bits(const Expr& e) {
  if (Expr c = folded(e); c.defined()) return c;
  if (e->args.size() < 2) return is(e->args[0], Op::BitNot) ? e->args[0]->args[0] : e;
  const Expr &a = e->args[0], &b = e->args[1];
  switch (e->op) {
    case Op::BitAnd:
      if (is_zero(a) || equal(a, b)) return a;
      return is_zero(b) ? b : e;
    case Op::BitOr:
      if (is_zero(b) || equal(a, b)) return a;
      return is_zero(a) ? b : e;
    case Op::BitXor:
      if (equal(a, b)) return make_zero(e->type);
      return is_zero(b) ? a : is_zero(a) ? b : e;
    default:
      return is_zero(b) || is_zero(a) ? a : e;  // shifts
  }
}

Expr Simplifier::cast(const Expr& e) {
  const Expr& a = e->args[0];
  const Type to = e->type, from = a->type;
  if (to == from) return a;
  if (Expr c = folded(e); c.defined()) return c;
  if (to.is_integral() && from.is_integral() && !to.is_bool() && analysis_.keeps_value(a, to))
    if (const Range r = analysis_.range(a); r.is_point()) return make_int(to, r.lo);
  if (!is(a, Op::Cast) || to.is_bool()) return e;
  const Expr& inner = a->args[0];
  const Type source = inner->type;
  const auto direct = [&] { return source == to ? inner : make(Op::Cast, to, {inner}); };
  if (source.is_integral() && from.is_integral() && !from.is_bool()) {
    // Either the first cast keeps the value, or the second keeps none of what the first would lose.
    if (analysis_.keeps_value(inner, from)) return direct();
    if (to.is_integral() && to.bits <= from.bits) return direct();
  }
  if (source == to && source.is_float() && from.code == source.code && from.bits >= source.bits) return inner;
  return e;
}

Expr Simplifier::other(const Expr& e) {
  switch (e->op) {
    case Op::Likely:
      if (is_const(e->args[0]) || is(e->args[0], Op::Likely)) return e->args[0];
      return e;
    case Op::Let: {
      const Expr &value = e->args[0], &body = e->args[1];
      if (is_const(value) || is(value, Op::Variable)) return run(substitute(body, {{symbol_of(e), value}}));
      return uses(body, symbol_of(e)) ? e : body;
    }
    case Op::LoadIf:
      return is_one(e->args[0]) ? make(Op::Load, e->type, {e->args[1]}, e->attr) : e;
    case Op::Require:
      return is_one(e->args[0]) ? e->args[1] : e;
    case Op::Strict:
      return is_const(e->args[0]) ? e->args[0] : e;
    default:
      break;
  }
  const OpGroup group = info(e->op).group;
  if (group == OpGroup::leaf || group == OpGroup::memory || group == OpGroup::vector) return e;
  Expr c = folded(e);
  return c.defined() ? c : e;
}

}  // namespace calotype::ir::algebra
