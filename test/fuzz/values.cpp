// Ranges of the values of random expressions.
#include "fuzz/values.h"

#include <algorithm>
#include <cmath>

#include "fuzz/fixed_values.h"

namespace calotype::fuzz {

namespace {

double lowest(Type t) { return t.is_uint() ? 0 : -std::ldexp(1, t.bits - 1); }
double highest(Type t) { return t.is_bool() ? 1 : std::ldexp(1, t.is_uint() ? t.bits : t.bits - 1) - 1; }

/// An integer that leaves its type wraps.
Value wrapped(Value v) {
  if (v.type.is_float() || (v.low >= lowest(v.type) && v.high <= highest(v.type))) return v;
  v.low = lowest(v.type);
  v.high = highest(v.type);
  return v;
}

Value whole_range(Node node, Type type) { return {std::move(node), type, lowest(type), highest(type)}; }

double most(const Value& v) { return std::max(std::fabs(v.low), std::fabs(v.high)); }

/// Floats that an operation keeps exact if they are at most so large.
Value operand(const Value& v, double most) { return v.type.is_float() ? limited(v, most) : v; }

Value real(Node node, Type type, double low, double high) {
  return {std::move(node), type, low, high, false};
}

Value float_operation(Random& random, const Value& a, const Value& b) {
  const Node one = constant(a.type, 1).node;
  switch (random.below(4)) {
    case 0:
      return real(list("/", a.node, list("max", list("abs", b.node), one)), a.type, -most(a), most(a));
    case 1:
      return real(list("sqrt", list("+", list("abs", limited(a, 64).node), one)), a.type, 0, 9);
    case 2:
      return real(list("exp", limited(a, 4).node), a.type, 0, 60);
    default:
      return real(list("tanh", a.node), a.type, -1, 1);
  }
}

Value integer_operation(Random& random, const Value& a, const Value& b) {
  const Type t = a.type;
  const Node amount = constant(t, random.within(0, 3)).node;
  switch (random.below(7)) {
    case 0:
      return wrapped({list("/", a.node, b.node), t, t.is_uint() ? 0 : -most(a), most(a)});
    case 1:
      return wrapped({list("%", a.node, b.node), t, 0, most(b)});
    case 2:
      return whole_range(list("&", a.node, b.node), t);
    case 3:
      return whole_range(list("|", a.node, b.node), t);
    case 4:
      return whole_range(list("^", a.node, b.node), t);
    case 5:
      return whole_range(list("<<", a.node, amount), t);
    default:
      return {list(">>", a.node, amount), t, std::min(a.low, 0.0), std::max(a.high, 0.0)};
  }
}

}  // namespace

double limit(Type type) {
  if (!type.is_float()) return highest(type);
  if (type.bits == 16) return type.code == TypeCode::BFloat ? 256 : 2048;
  return type.bits == 32 ? 1 << 24 : std::ldexp(1, 50);
}

Value constant(Type type, std::int64_t number) {
  if (type.is_uint()) number = std::abs(number);
  if (type.is_bool()) number = number % 2;
  const auto d = static_cast<double>(number);
  return {list("const", type.str(), number), type, d, d};
}

Value limited(const Value& v, double most) {
  most = std::floor(most);
  if (v.low >= -most && v.high <= most) return v;
  const auto n = static_cast<std::int64_t>(most);
  Value result = v;
  if (v.type.is_uint()) {
    result.node = list("%", v.node, constant(v.type, n + 1).node);
    result.low = 0;
  } else {
    result.node = list("clamp", v.node, constant(v.type, -n).node, constant(v.type, n).node);
    result.low = std::clamp(v.low, -most, most);
  }
  result.high = std::clamp(v.high, -most, most);
  if (v.type.is_uint()) result.high = most;
  return result;
}

Value converted(const Value& v, Type type) {
  if (v.type == type) return v;
  if (!v.whole && !type.is_float()) return constant(type, 1);
  if (type.is_bool()) return {list("!=", v.node, constant(v.type, 0).node), type, 0, 1};
  const Value from = type.is_float() ? limited(v, std::min(limit(type) - 1, 100.0)) : v;
  Value result{list("cast", type.str(), from.node), type, from.low, from.high, from.whole};
  if (v.type.is_float() && !type.is_float()) {  // saturates
    result.low = std::clamp(v.low, lowest(type), highest(type));
    result.high = std::clamp(v.high, lowest(type), highest(type));
  }
  return wrapped(result);
}

Value add(const Value& x, const Value& y) {
  const double half = std::floor(limit(x.type) / 4);
  const Value a = operand(x, half), b = operand(y, half);
  return wrapped({list("+", a.node, b.node), a.type, a.low + b.low, a.high + b.high, a.whole && b.whole});
}

Value subtract(const Value& x, const Value& y) {
  const double half = std::floor(limit(x.type) / 4);
  const Value a = operand(x, half), b = operand(y, half);
  return wrapped({list("-", a.node, b.node), a.type, a.low - b.high, a.high - b.low, a.whole && b.whole});
}

Value multiply(const Value& x, const Value& y) {
  const double root = std::floor(std::sqrt(limit(x.type)) / 2);
  const Value a = operand(x, root), b = operand(y, root);
  const double corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return wrapped({list("*", a.node, b.node), a.type, *std::min_element(corners, corners + 4),
                  *std::max_element(corners, corners + 4), a.whole && b.whole});
}

Value least(const Value& a, const Value& b) {
  return {list("min", a.node, b.node), a.type, std::min(a.low, b.low), std::min(a.high, b.high),
          a.whole && b.whole};
}

Value greatest(const Value& a, const Value& b) {
  return {list("max", a.node, b.node), a.type, std::max(a.low, b.low), std::max(a.high, b.high),
          a.whole && b.whole};
}

Value selected(const Value& condition, const Value& a, const Value& b) {
  return {list("select", condition.node, a.node, b.node), a.type, std::min(a.low, b.low),
          std::max(a.high, b.high), a.whole && b.whole};
}

Value any_operation(Random& random, const Value& a, const Value& b, bool real) {
  if (a.type.is_bool()) {
    const char* names[] = {"&&", "||", "!=", "=="};
    return {list(names[random.below(4)], a.node, b.node), a.type, 0, 1};
  }
  if (real && a.type.is_float() && random.chance(30)) return float_operation(random, a, b);
  if (!a.type.is_float() && random.chance(12)) return integer_function(random, a, b);
  if (!a.type.is_float() && random.chance(30)) return integer_operation(random, a, b);
  switch (random.below(6)) {
    case 0:
    case 1:
      return add(a, b);
    case 2:
      return subtract(a, b);
    case 3:
      return multiply(a, b);
    case 4:
      return least(a, b);
    default:
      return greatest(a, b);
  }
}

}  // namespace calotype::fuzz
