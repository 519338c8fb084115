#pragma once
// Ranges of constants: closed intervals of int64 whose ends may be infinite, with arithmetic that errs
// outwards.

#include <cstdint>
#include <optional>

#include "calotype/type.h"

namespace calotype::ir::algebra {

struct Range {
  static constexpr std::int64_t kLowest = INT64_MIN;   ///< as `lo`: unbounded below
  static constexpr std::int64_t kHighest = INT64_MAX;  ///< as `hi`: unbounded above
  std::int64_t lo = kLowest, hi = kHighest;

  static Range point(std::int64_t v) { return {v, v}; }
  static Range of_type(Type t);
  bool bounded() const { return lo != kLowest && hi != kHighest; }
  bool is_point() const { return lo == hi; }
  bool within(const Range& outer) const { return lo >= outer.lo && hi <= outer.hi; }
  bool operator==(const Range&) const = default;
};

Range operator+(const Range& a, const Range& b);
Range operator*(const Range& a, const Range& b);
Range operator-(const Range& a);
Range scaled(const Range& a, std::int64_t c);
Range floor_div(const Range& a, const Range& b);
Range euclid_mod(const Range& a, const Range& b);
Range min(const Range& a, const Range& b);
Range max(const Range& a, const Range& b);
Range unite(const Range& a, const Range& b);
Range intersect(const Range& a, const Range& b);

}  // namespace calotype::ir::algebra
