// Typing of the public operators.

#include "ir/typing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calotype/error.h"
#include "ir/value.h"

namespace calotype::ir {

namespace {

bool fits(const Value& value, Type type) {
  if (type.is_float8()) {
    const double number = convert(Float(64), value).f;
    return !std::isfinite(number) || std::abs(number) <= largest_float8(type);
  }
  if (type.is_float()) {
    const double converted = convert(type, value).f;
    return std::isfinite(converted) || (value.type.is_float() && !std::isfinite(value.f));
  }
  if (value.i < 0 && value.type.is_int()) return type.is_int() && value.i >= type.min_int();
  const auto largest =
      type.is_uint() && type.bits == 64 ? UINT64_MAX : static_cast<std::uint64_t>(type.max_int());
  return static_cast<std::uint64_t>(value.i) <= largest;
}

std::string range_text(Type type) {
  if (type.is_float8()) return fmt::format("a number of at most {} in size", largest_float8(type));
  if (type.is_float()) return fmt::format("a finite {}", type.str());
  if (type.is_uint() && type.bits == 64) return fmt::format("0 to {}", UINT64_MAX);
  return fmt::format("{} to {}", type.min_int(), type.max_int());
}

/// The Const node inside a constant or a broadcast of one.
const Expr& scalar_constant(const Expr& e) { return is(e, Op::Broadcast) ? e->args[0] : e; }

}  // namespace

void require_defined(const Expr& e, const char* what) {
  if (e.defined()) return;
  throw Error(
      {.kind = ErrorKind::Algorithm,
       .message = fmt::format("an operand of '{}' is undefined", what),
       .legal = "an Expr that has a value: a constant, a Var, or a use of a defined Func or an input"});
}

void require_operand(bool holds, const char* what, const Expr& operand, const char* legal) {
  if (holds) return;
  throw Error({.kind = ErrorKind::Algorithm,
               .message = fmt::format("'{}' is not defined for the type {} of '{}'", what,
                                      operand->type.str(), operand.str()),
               .value = operand->type.str(),
               .legal = legal});
}

void require_wide(const char* what, const Expr& operand) {
  require_operand(!operand->type.is_float8(), what, operand,
                  "a cast to a wider type first, as cast<float>(...): 8-bit floats are for storage");
}

Type common_type(Type a, Type b) {
  a = a.element();
  b = b.element();
  if (a.is_float() && b.is_float()) {
    if (a.code == b.code) return a.bits >= b.bits ? a : b;
    const Type& ieee = a.code == TypeCode::Float ? a : b;
    return ieee.bits >= 32 ? ieee : Float(32);  // neither of binary16 and bfloat16 holds the other
  }
  if (a.is_float()) return a;
  if (b.is_float()) return b;
  const int bits = std::max(a.bits, b.bits);
  return a.is_int() || b.is_int() ? Int(bits) : UInt(bits);
}

bool is_literal(const Expr& e) {
  const Expr& constant = scalar_constant(e);
  return is_const(constant) && !constant->typed;
}

bool adopts(const Expr& literal, Type other) { return !literal->type.is_float() || other.is_float(); }

Expr convert(Type type, const Expr& e) {
  type = type.with_lanes(e->type.lanes);
  if (e->type == type) return e;
  const Expr& constant = scalar_constant(e);
  if (!is_const(constant)) return make(Op::Cast, type, {e});
  Expr result = make_value(convert(type.element(), value_of(constant)));
  if (constant->typed) result = make_typed(result);
  return type.is_scalar() ? result : make(Op::Broadcast, type, {result});
}

Expr adopt(const char* what, const Expr& literal, Type type, const Expr& other) {
  if (!fits(value_of(scalar_constant(literal)), type.element())) {
    const std::string text = to_string(scalar_constant(literal));
    throw Error(
        {.kind = ErrorKind::Algorithm,
         .message = fmt::format("the literal {} beside '{}' in '{}' does not fit its type {}", text,
                                to_string(other), what, type.element().str()),
         .value = text,
         .legal = fmt::format("{}, or an explicit cast of either operand", range_text(type.element()))});
  }
  return convert(type, literal);
}

void match_lanes(const char* what, Expr& a, Expr& b) {
  if (a->type.lanes == b->type.lanes) return;
  Expr& narrow = a->type.lanes < b->type.lanes ? a : b;
  const Expr& wide = a->type.lanes < b->type.lanes ? b : a;
  if (narrow->type.is_vector()) {
    throw Error({.kind = ErrorKind::Algorithm,
                 .message = fmt::format("the operands of '{}' have {} and {} lanes", what, a->type.lanes,
                                        b->type.lanes),
                 .legal = "equal numbers of lanes, or a scalar beside a vector"});
  }
  narrow = make(Op::Broadcast, narrow->type.with_lanes(wide->type.lanes), {narrow});
}

void match(const char* what, Expr& a, Expr& b) {
  require_defined(a, what);
  require_defined(b, what);
  if (a->type.element() != b->type.element()) {
    const bool literal_a = is_literal(a), literal_b = is_literal(b);
    if (literal_a && !literal_b && adopts(a, b->type)) {
      a = adopt(what, a, b->type, b);
    } else if (literal_b && !literal_a && adopts(b, a->type)) {
      b = adopt(what, b, a->type, a);
    } else {
      require_wide(what, a);
      require_wide(what, b);
      const Type type = common_type(a->type, b->type);
      a = convert(type, a);
      b = convert(type, b);
    }
  }
  match_lanes(what, a, b);
}

Expr make_folded(Op op, Type type, std::vector<Expr> args) {
  if (std::all_of(args.begin(), args.end(), [](const Expr& e) { return is_const(e); })) {
    Expr folded = fold(op, type, args);
    const bool typed = std::any_of(args.begin(), args.end(), [](const Expr& e) { return e->typed; });
    if (folded.defined()) return typed && !folded->typed ? make_typed(folded) : folded;
  }
  return make(op, type, std::move(args));
}

}  // namespace calotype::ir
