#pragma once
// Tuple: several values at once, as a Func with several components has at each point.

#include <utility>
#include <vector>

#include "calotype/expr.h"

namespace calotype {

/// The values of a definition, or of a use, of a Func with several components. Types may differ.
class Tuple {
 public:
  /// At least one value; all defined. Throws Error(Algorithm).
  explicit Tuple(std::vector<Expr> values);
  template <class... Rest>
  Tuple(Expr first, Expr second, Rest&&... rest)
      : Tuple(std::vector<Expr>{std::move(first), std::move(second), Expr(std::forward<Rest>(rest))...}) {}

  int size() const { return static_cast<int>(values_.size()); }
  /// Throws Error(Algorithm) for an index outside [0, size()).
  const Expr& operator[](int i) const;
  const std::vector<Expr>& values() const { return values_; }

 private:
  std::vector<Expr> values_;
};

/// Each component chosen by one condition. The Tuples have the same size.
Tuple select(const Expr& condition, const Tuple& a, const Tuple& b);

}  // namespace calotype
