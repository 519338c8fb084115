// Fixed-point arithmetic, built from the plain operations: every target has it at once, and the forms are
// those that machines' saturating, averaging and high-product instructions are recognised by.

#include "calotype/fixed_point.h"

#include <algorithm>

#include "ir/typing.h"
#include "ir/wide_product.h"

namespace calotype {

namespace {

constexpr const char* kNumbers = "integers";
constexpr const char* kNarrow = "integers of at most 32 bits";

bool is_whole(const Expr& e) { return e->type.is_integral() && !e->type.is_bool(); }

void match_whole(const char* what, Expr& a, Expr& b) {
  ir::match(what, a, b);
  ir::require_operand(is_whole(a), what, a, kNumbers);
}

Type widened(Type t) { return {t.code, static_cast<std::uint8_t>(2 * t.bits), t.lanes}; }
Type signed_of(Type t) { return Int(t.bits, t.lanes); }
Type unsigned_of(Type t) { return UInt(t.bits, t.lanes); }
Expr constant(Type t, std::int64_t value) { return ir::make_int(t, value); }

/// The largest value of a type, whose bits are those of the int64.
Expr largest(Type t) { return constant(t, t.is_uint() ? -1 : t.max_int()); }
Expr smallest(Type t) { return constant(t, t.min_int()); }

/// The end of the range of a signed type on the side of the sign of `like`.
Expr end_towards(const Expr& like) {
  const Type t = like->type;
  return select(like < ir::make_zero(t), smallest(t), largest(t));
}

void match_narrow(const char* what, Expr& a, Expr& b) {
  match_whole(what, a, b);
  ir::require_operand(a->type.bits <= 32, what, a, kNarrow);
}

/// a + b or a - b of signed 64-bit numbers: the wrapped result unless its sign tells that it overflowed.
Expr saturating_signed(const Expr& a, const Expr& b, bool sum) {
  const Type t = a->type, u = unsigned_of(t);
  const Expr x = cast(u, a), y = cast(u, b);
  const Expr wrapped = cast(t, sum ? x + y : x - y);
  const Expr overflows = sum ? (a ^ wrapped) & (b ^ wrapped) : (a ^ b) & (a ^ wrapped);
  return select(overflows < ir::make_zero(t), end_towards(a), wrapped);
}

}  // namespace

// ---- Twice the width

Expr widening_add(Expr a, Expr b) {
  match_narrow("widening_add", a, b);
  const Type wide = widened(a->type);
  return cast(wide, a) + cast(wide, b);
}

Expr widening_sub(Expr a, Expr b) {
  match_narrow("widening_sub", a, b);
  const Type wide = signed_of(widened(a->type));
  return cast(wide, a) - cast(wide, b);
}

Expr widening_mul(Expr a, Expr b) {
  ir::require_defined(a, "widening_mul");
  ir::require_defined(b, "widening_mul");
  const bool literal = ir::is_literal(a) || ir::is_literal(b);
  const bool one_width = is_whole(a) && is_whole(b) && a->type.bits == b->type.bits;
  if (literal || !one_width || a->type.code == b->type.code) {
    match_whole("widening_mul", a, b);
  } else {
    ir::match_lanes("widening_mul", a, b);
  }
  ir::require_operand(a->type.bits <= 32, "widening_mul", a, kNarrow);
  const Type wide = a->type.code == b->type.code ? widened(a->type) : signed_of(widened(a->type));
  return cast(wide, a) * cast(wide, b);
}

Expr widening_shift_left(Expr a, Expr b) {
  ir::require_defined(a, "widening_shift_left");
  ir::require_defined(b, "widening_shift_left");
  ir::require_operand(is_whole(a) && a->type.bits <= 32, "widening_shift_left", a, kNarrow);
  ir::require_operand(is_whole(b), "widening_shift_left", b, kNumbers);
  const Type wide = widened(a->type);
  if (b->type.bits > wide.bits) {
    // No more than the width is needed of an amount; what is cut shifts everything out as well.
    const Expr high = min(b, constant(b->type, wide.bits));
    b = b->type.is_int() ? max(high, constant(b->type, -wide.bits)) : high;
    b = cast(b->type.is_int() ? signed_of(wide) : unsigned_of(wide), b);
  }
  return cast(wide, a) << b;
}

// ---- Saturated

Expr saturating_add(Expr a, Expr b) {
  match_whole("saturating_add", a, b);
  if (a->type.is_uint()) return a + min(b, ~a);
  return a->type.bits == 64 ? saturating_signed(a, b, true) : saturating_cast(a->type, widening_add(a, b));
}

Expr saturating_sub(Expr a, Expr b) {
  match_whole("saturating_sub", a, b);
  if (a->type.is_uint()) return max(a, b) - b;
  return a->type.bits == 64 ? saturating_signed(a, b, false) : saturating_cast(a->type, widening_sub(a, b));
}

// ---- Halves

Expr halving_add(Expr a, Expr b) {
  match_whole("halving_add", a, b);
  return (a & b) + ((a ^ b) >> ir::make_one(a->type));
}

Expr rounding_halving_add(Expr a, Expr b) {
  match_whole("rounding_halving_add", a, b);
  return (a | b) - ((a ^ b) >> ir::make_one(a->type));
}

Expr halving_sub(Expr a, Expr b) {
  match_whole("halving_sub", a, b);
  const Expr one = ir::make_one(a->type);
  return (a >> one) - (b >> one) - (~a & b & one);
}

// ---- Shifts

namespace {

/// The amount as a signed number in the width of `a`; one of more bits than `a` has gives the same result cut
/// to what every type holds.
Expr signed_amount(const char* what, const Expr& a, const Expr& b) {
  ir::require_defined(a, what);
  ir::require_defined(b, what);
  ir::require_operand(is_whole(a), what, a, kNumbers);
  ir::require_operand(is_whole(b), what, b, kNumbers);
  const int most = std::min(2 * a->type.bits, 127);
  Expr amount = min(b, constant(b->type, most));
  if (b->type.is_int()) amount = max(amount, constant(b->type, -most));
  return cast(signed_of(a->type), amount);
}

/// floor(a / 2^by + 1/2) for by >= 0: the quotient, and the highest bit that was cut (for by = 0 the shift by
/// -1 leaves a 0 there).
Expr shift_right(const Expr& a, const Expr& by) {
  const Expr one = ir::make_one(a->type);
  return (a >> by) + ((a >> (by - ir::make_one(by->type))) & one);
}

/// a * 2^by for by >= 0, saturated.
Expr shift_left(const Expr& a, const Expr& by) {
  const Expr shifted = a << by;
  const Expr fits = (shifted >> by) == a;
  return select(fits, shifted, a->type.is_int() ? end_towards(a) : largest(a->type));
}

Expr rounding_shift(const Expr& a, const Expr& by, bool right) {
  const Expr opposite = ir::make_folded(ir::Op::Neg, by->type, {by});
  if (const auto amount = ir::as_int(by)) {
    const bool forward = *amount >= 0;
    return forward == right ? shift_right(a, forward ? by : opposite)
                            : shift_left(a, forward ? by : opposite);
  }
  const Expr forward = by >= ir::make_zero(by->type);
  return right ? select(forward, shift_right(a, by), shift_left(a, opposite))
               : select(forward, shift_left(a, by), shift_right(a, opposite));
}

}  // namespace

Expr rounding_shift_left(Expr a, Expr b) {
  return rounding_shift(a, signed_amount("rounding_shift_left", a, b), false);
}

Expr rounding_shift_right(Expr a, Expr b) {
  return rounding_shift(a, signed_amount("rounding_shift_right", a, b), true);
}

// ---- High products

namespace {

/// The amount q as an unsigned number of the width of `like`, cut to where nothing is left of a product of
/// twice that width.
Expr product_amount(const char* what, const Expr& q, Type like) {
  ir::require_defined(q, what);
  const auto literal = ir::is_literal(q) ? ir::as_int(q) : std::nullopt;
  const bool legal = q->type.is_uint() || (literal && *literal >= 0);
  ir::require_operand(is_whole(q) && legal, what, q, "an amount that is unsigned, or a literal >= 0");
  const int most = 2 * like.bits + 1;
  const Expr cut = q->type.max_int() > most ? min(q, constant(q->type, most)) : q;
  return cast(unsigned_of(like), cut);
}

Expr scaled_product(const char* what, Expr a, Expr b, const Expr& q, bool rounded) {
  match_whole(what, a, b);
  const Type t = a->type;
  if (t.bits == 64) return ir::wide_product_shifted(a, b, product_amount(what, q, t), rounded);
  const Type wide = widened(t);
  const Expr amount = product_amount(what, q, wide);
  const Expr product = cast(wide, a) * cast(wide, b);
  const Expr shifted = rounded ? rounding_shift_right(product, amount) : product >> amount;
  // A shift by the width leaves what fits in any case, and what machines have an instruction for.
  const auto known = ir::as_int(amount);
  return known && *known >= t.bits ? cast(t, shifted) : saturating_cast(t, shifted);
}

}  // namespace

Expr mul_shift_right(Expr a, Expr b, Expr q) {
  return scaled_product("mul_shift_right", std::move(a), std::move(b), q, false);
}

Expr rounding_mul_shift_right(Expr a, Expr b, Expr q) {
  return scaled_product("rounding_mul_shift_right", std::move(a), std::move(b), q, true);
}

}  // namespace calotype
