#pragma once
// Expressions of random programs with what is known of their values: enough to keep whole floats so small
// that every order of adding them is exact.

#include "calotype/type.h"
#include "fuzz/node.h"
#include "fuzz/random.h"

namespace calotype::fuzz {

struct Value {
  Node node;
  Type type;
  double low, high;
  bool whole = true;  ///< floats: a whole number
};

/// Whole numbers up to this are exact in the type, and so are their sums.
double limit(Type type);

Value constant(Type type, std::int64_t number);
/// Within [-most, most]: clamped, or an unsigned remainder.
Value limited(const Value& v, double most);
/// In another type. What is no whole number becomes no integer and no condition: 1 stands in its place.
Value converted(const Value& v, Type type);

/// Operations on values of one type, operands limited first where the result would not be exact.
Value add(const Value& a, const Value& b);
Value subtract(const Value& a, const Value& b);
Value multiply(const Value& a, const Value& b);
Value least(const Value& a, const Value& b);
Value greatest(const Value& a, const Value& b);
Value selected(const Value& condition, const Value& a, const Value& b);
/// One of the operations that the type has; `real` lets floats be other than whole numbers.
Value any_operation(Random& random, const Value& a, const Value& b, bool real);

}  // namespace calotype::fuzz
