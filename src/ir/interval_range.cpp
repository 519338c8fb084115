// Arithmetic on ranges of constants.
#include "ir/interval_range.h"

#include <algorithm>

#include "ir/linear.h"

namespace calotype::ir::algebra {

namespace {

__extension__ using Wide = __int128;
constexpr Wide kInfinity = Wide{1} << 126;

Wide wide_lo(const Range& r) { return r.lo == Range::kLowest ? -kInfinity : Wide{r.lo}; }
Wide wide_hi(const Range& r) { return r.hi == Range::kHighest ? kInfinity : Wide{r.hi}; }

/// Rounded outwards into int64: what does not fit becomes infinite, or the nearest finite value that is still
/// a bound.
Range narrow(Wide lo, Wide hi) {
  const auto low = Wide{Range::kLowest}, high = Wide{Range::kHighest};
  return {static_cast<std::int64_t>(std::clamp(lo, low, high - 1)),
          static_cast<std::int64_t>(std::clamp(hi, low + 1, high))};
}

bool infinite(Wide v) { return v == kInfinity || v == -kInfinity; }

Wide product(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) != (b < 0) ? -kInfinity : kInfinity;
  return a * b;
}

Wide sum(Wide a, Wide b) {
  if (infinite(a)) return a;
  return infinite(b) ? b : a + b;
}

/// Whether neither the sum nor the product of two such ends comes near the limits of int64.
bool is_small(std::int64_t v) { return v > -(std::int64_t{1} << 31) && v < (std::int64_t{1} << 31); }
bool is_small(const Range& r) { return is_small(r.lo) && is_small(r.hi); }

/// a / b for b >= 1, infinite operands at their limits.
Wide quotient(Wide a, Wide b) {
  if (infinite(b)) return a < 0 ? -1 : 0;
  if (infinite(a)) return a;
  const Wide q = a / b;
  return a % b != 0 && a < 0 ? q - 1 : q;
}

}  // namespace

Range Range::of_type(Type t) {
  if (!t.is_integral()) return {};
  return {t.min_int(), t.max_int()};
}

Range operator+(const Range& a, const Range& b) {
  if (is_small(a) && is_small(b)) return {a.lo + b.lo, a.hi + b.hi};
  return narrow(sum(wide_lo(a), wide_lo(b)), sum(wide_hi(a), wide_hi(b)));
}

Range operator*(const Range& a, const Range& b) {
  const Wide p[] = {product(wide_lo(a), wide_lo(b)), product(wide_lo(a), wide_hi(b)),
                    product(wide_hi(a), wide_lo(b)), product(wide_hi(a), wide_hi(b))};
  return narrow(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
}

Range operator-(const Range& a) { return narrow(-wide_hi(a), -wide_lo(a)); }

Range scaled(const Range& a, std::int64_t c) {
  if (!is_small(c)) return a * Range::point(c);
  if (is_small(a)) {
    const auto [lo, hi] = std::minmax({a.lo * c, a.hi * c});
    return {lo, hi};
  }
  const auto [lo, hi] = std::minmax({product(wide_lo(a), c), product(wide_hi(a), c)});
  return narrow(lo, hi);
}

Range floor_div(const Range& a, const Range& b) {
  // Where facts contradict each other no divisor is left.
  if (b.lo >= 1 && b.hi >= b.lo) {
    const Wide lo = wide_lo(a), hi = wide_hi(a), small = b.lo, large = wide_hi(b);
    return narrow(std::min(quotient(lo, small), quotient(lo, large)),
                  std::max(quotient(hi, small), quotient(hi, large)));
  }
  // No quotient is larger than its dividend, and x / 0 is 0.
  const Wide m = std::max(product(wide_lo(a), -1), wide_hi(a));
  const Wide n = std::max(m, wide_lo(a));
  return narrow(-n, n);
}

Range euclid_mod(const Range& a, const Range& b) {
  if (b.lo >= 1 && a.lo >= 0 && a.hi < b.lo) return a;
  if (b.is_point() && b.lo >= 1 && a.bounded() && floor_div(a.lo, b.lo) == floor_div(a.hi, b.lo))
    return {floor_mod(a.lo, b.lo), floor_mod(a.hi, b.lo)};
  const Wide largest = std::max({product(wide_lo(b), -1), wide_hi(b), Wide{1}}) - 1;
  // Only a positive divisor leaves what is smaller as it is; a zero one gives 0, which is no larger either.
  const Wide hi = a.lo >= 0 ? std::min(largest, wide_hi(a)) : largest;
  return narrow(0, hi >= kInfinity - 1 ? kInfinity : hi);
}

Range min(const Range& a, const Range& b) { return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; }
Range max(const Range& a, const Range& b) { return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; }
Range unite(const Range& a, const Range& b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Range intersect(const Range& a, const Range& b) {
  const Range r{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
  return r.lo <= r.hi ? r : a;  // contradictory facts: any range will do
}

}  // namespace calotype::ir::algebra
