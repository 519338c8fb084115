// Tuple: several values at once.

#include "calotype/tuple.h"

#include <fmt/format.h>

#include "ir/typing.h"
#include "lang/errors.h"

namespace calotype {

Tuple::Tuple(std::vector<Expr> values) : values_(std::move(values)) {
  if (values_.empty()) lang::refuse("a Tuple has no values", "", "0", "one value or more");
  for (const Expr& value : values_) ir::require_defined(value, "a Tuple");
}

const Expr& Tuple::operator[](int i) const {
  if (i < 0 || i >= size())
    lang::refuse(fmt::format("component {} of a Tuple of {}", i, size()), "", std::to_string(i),
                 fmt::format("0 to {}", size() - 1));
  return values_[i];
}

Tuple select(const Expr& condition, const Tuple& a, const Tuple& b) {
  if (a.size() != b.size())
    lang::refuse(fmt::format("select between Tuples of {} and {} values", a.size(), b.size()), "",
                 std::to_string(b.size()), "Tuples of the same size");
  std::vector<Expr> values;
  for (int i = 0; i < a.size(); ++i) values.push_back(select(condition, a[i], b[i]));
  return Tuple(std::move(values));
}

}  // namespace calotype
