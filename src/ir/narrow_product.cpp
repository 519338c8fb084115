// Products of narrow integers in a wide type.
#include "ir/narrow_product.h"

#include <algorithm>

namespace calotype::ir {

namespace {

/// Whether all values from lowest to highest are of the type.
bool holds(Type t, std::int64_t lowest, std::int64_t highest) {
  return t.min_int() <= lowest && highest <= t.max_int();
}

bool is_small_integer(Type t) { return t.is_integral() && !t.is_bool() && t.bits <= 32; }

Type narrowest(std::int64_t value) {
  for (const Type t : {UInt(8), Int(8), UInt(16), Int(16)})
    if (holds(t, value, value)) return t;
  return Int(32);
}

/// The value in a type of 8 or 16 bits, if it comes from one.
Expr narrow(const Expr& e) {
  if (const auto value = as_int(e)) {
    const Type t = narrowest(*value);
    return t.bits <= 16 ? make_int(t.with_lanes(e->type.lanes), *value) : Expr();
  }
  if (is(e, Op::Broadcast)) {
    const Expr x = narrow(e->args[0]);
    return x.defined() ? make(Op::Broadcast, x->type.with_lanes(e->type.lanes), {x}) : Expr();
  }
  if (is(e, Op::Cast)) {
    const Type from = e->args[0]->type.element();
    if (is_small_integer(from) && holds(e->type, from.min_int(), from.max_int()))
      if (Expr x = narrow(e->args[0]); x.defined()) return x;
  }
  return is_small_integer(e->type.element()) && e->type.bits <= 16 ? e : Expr();
}

/// Below a cast to 32 bits, which changes nothing modulo 2^32.
Expr below_cast(const Expr& e) {
  const bool wraps = is(e, Op::Cast) && is_small_integer(e->args[0]->type.element());
  return narrow(wraps ? e->args[0] : e);
}

/// Whether the product of any two values of the types is one of type t.
bool product_fits(Type t, Type x, Type y) {
  const auto [low, high] = std::minmax({x.min_int() * y.min_int(), x.min_int() * y.max_int(),
                                        x.max_int() * y.min_int(), x.max_int() * y.max_int()});
  return holds(t, low, high);
}

}  // namespace

int NarrowProduct::bits() const { return std::max<int>(x->type.bits, y.defined() ? y->type.bits : 0); }

std::optional<NarrowProduct> narrow_product(const Expr& e) {
  const Type t = e->type.element();
  if (t != Int(32) && t != UInt(32)) return std::nullopt;
  if (is(e, Op::Select) && is_zero(e->args[2])) {
    std::optional<NarrowProduct> inner = narrow_product(e->args[1]);
    if (!inner || inner->mask.defined()) return std::nullopt;
    inner->mask = e->args[0];
    return inner;
  }
  if (is(e, Op::Mul)) {
    const Expr x = below_cast(e->args[0]), y = below_cast(e->args[1]);
    return x.defined() && y.defined() ? std::optional(NarrowProduct{x, y, {}}) : std::nullopt;
  }
  if (!is(e, Op::Cast) || !is_small_integer(e->args[0]->type.element())) return std::nullopt;
  const Expr& inner = e->args[0];
  if (is(inner, Op::Mul)) {
    const Expr x = narrow(inner->args[0]), y = narrow(inner->args[1]);
    if (x.defined() && y.defined() &&
        product_fits(inner->type.element(), x->type.element(), y->type.element()))
      return NarrowProduct{x, y, {}};
  }
  const Expr x = narrow(inner);
  return x.defined() ? std::optional(NarrowProduct{x, {}, {}}) : std::nullopt;
}

}  // namespace calotype::ir
