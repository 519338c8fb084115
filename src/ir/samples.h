#pragma once
// Values of integer expressions at a few points where the facts hold. What is negative at one of them cannot
// be proved not to be: most comparisons that nothing decides are told so without a search.

#include <array>
#include <cstdint>
#include <unordered_map>

#include "ir/linear.h"

namespace calotype::ir::algebra {

class Ranges;

class Samples {
 public:
  static constexpr int kCount = 8;
  /// A bit a point.
  using Set = std::uint8_t;
  static constexpr Set kAll = 0xff;

  explicit Samples(Ranges& ranges) : ranges_(ranges) {}

  /// The points at which the form has a value that is known, and is not negative, or is.
  Set nonnegative(const Linear& l) { return signs(l).first; }
  Set negative(const Linear& l) { return signs(l).second; }

 private:
  /// Of an expression; only where its bit of `known` is set.
  struct Values {
    std::array<std::int64_t, kCount> at{};
    Set known = 0;
  };
  struct Hash {
    std::size_t operator()(const Expr& e) const { return e->hash; }
  };
  struct Equal {
    bool operator()(const Expr& a, const Expr& b) const { return equal(a, b); }
  };

  std::pair<Set, Set> signs(const Linear& l);
  const Values& values(const Expr& e);
  Values compute(const Expr& e);
  Values variable(const Expr& e);
  Values element(const Expr& e);
  Values selected(const Expr& e);

  Ranges& ranges_;
  std::unordered_map<Expr, Values, Hash, Equal> values_;
};

}  // namespace calotype::ir::algebra
