// Ranges and types of the integer functions. Where a result has another type than its operands it is
// converted back.
#include "fuzz/fixed_values.h"

#include <algorithm>
#include <cmath>

namespace calotype::fuzz {

namespace {

constexpr int most_fixed_bits = 32;  ///< of operands whose exact result has twice the width

/// Any value of the type.
Value of_type(Node node, Type type) {
  const double low = type.is_uint() ? 0 : -std::ldexp(1, type.bits - 1);
  return {std::move(node), type, low, std::ldexp(1, type.is_uint() ? type.bits : type.bits - 1) - 1};
}

Value small(Node node, Type type, double most) { return {std::move(node), type, 0, most}; }

Node amount(Random& random, Type type) {
  return constant(type, random.within(type.is_uint() ? 0 : -2, 3)).node;
}

Value bits(Random& random, const Value& a) {
  static const std::vector<const char*> counts = {"popcount", "count_leading_zeros", "count_trailing_zeros"};
  const Type t = a.type;
  switch (random.below(3)) {
    case 0:
      return small(list(random.pick(counts), a.node), t, t.bits);
    case 1:
      return of_type(list("~", a.node), t);
    default:
      return of_type(list("reinterpret", (t.is_uint() ? Int(t.bits) : UInt(t.bits)).str(), a.node),
                     t.is_uint() ? Int(t.bits) : UInt(t.bits));
  }
}

Value choices(Random& random, const Value& a, const Value& b) {
  const double low = std::min(a.low, b.low), high = std::max(a.high, b.high);
  const Type t = a.type;
  if (t.bits <= 32 && random.chance(50)) {
    const Type parts = random.chance(70) ? UInt(8) : UInt(16);
    return {list("lerp", a.node, b.node, converted(random.chance(50) ? a : b, parts).node), t, low, high};
  }
  if (random.chance(50)) return {list("mux", b.node, a.node, b.node, a.node), t, low, high};
  return of_type(list("absd", a.node, b.node), UInt(t.bits));
}

Value divisions(Random& random, const Value& a, const Value& b) {
  switch (random.below(3)) {
    case 0:
      return of_type(list("div_round_to_zero", a.node, b.node), a.type);
    case 1:
      return of_type(list("mod_round_to_zero", a.node, b.node), a.type);
    default:
      return of_type(list("fma", a.node, b.node, a.node), a.type);
  }
}

Value saturated(Random& random, const Value& a) {
  static const std::vector<Type> types = {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32)};
  const Type to = random.pick(types);
  return of_type(list("saturating_cast", to.str(), a.node), to);
}

Value widened(Random& random, const Value& a, const Value& b) {
  const Type t = a.type, wide = t.is_uint() ? UInt(2 * t.bits) : Int(2 * t.bits);
  switch (random.below(4)) {
    case 0:
      return of_type(list("widening_add", a.node, b.node), wide);
    case 1:
      return of_type(list("widening_mul", a.node, b.node), wide);
    case 2:
      return of_type(list("widening_sub", a.node, b.node), Int(2 * t.bits));
    default:
      return of_type(list("widening_shift_left", a.node, amount(random, t)), wide);
  }
}

Value rounded(Random& random, const Value& a, const Value& b) {
  static const std::vector<const char*> pairs = {"saturating_add", "saturating_sub", "halving_add",
                                                 "rounding_halving_add", "halving_sub"};
  static const std::vector<const char*> shifts = {"rounding_shift_left", "rounding_shift_right"};
  static const std::vector<const char*> products = {"mul_shift_right", "rounding_mul_shift_right"};
  const Type t = a.type;
  switch (random.weighted({5, 2, 2})) {
    case 0:
      return of_type(list(random.pick(pairs), a.node, b.node), t);
    case 1:
      return of_type(list(random.pick(shifts), a.node, amount(random, t)), t);
    default:
      return of_type(list(random.pick(products), a.node, b.node, random.within(0, t.bits)), t);
  }
}

Value drawn(Random& random, const Value& a, const Value& b) {
  const bool fixed = a.type.bits <= most_fixed_bits;
  switch (random.weighted({2, 3, 2, 1, fixed ? 3 : 0, fixed ? 5 : 0})) {
    case 0:
      return bits(random, a);
    case 1:
      return choices(random, a, b);
    case 2:
      return divisions(random, a, b);
    case 3:
      return saturated(random, a);
    case 4:
      return widened(random, a, b);
    default:
      return rounded(random, a, b);
  }
}

}  // namespace

Value integer_function(Random& random, const Value& a, const Value& b) {
  return converted(drawn(random, a, b), a.type);
}

}  // namespace calotype::fuzz
