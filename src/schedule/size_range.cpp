// SizeRange: membership, intersection and text.
#include "calotype/size_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace calotype {

namespace {

std::int64_t first_in(const SizeRange& r) {
  return (r.low / r.multiple + (r.low % r.multiple > 0)) * r.multiple;
}

}  // namespace

bool SizeRange::contains(std::int64_t value) const {
  return value >= low && (!high || value <= *high) && value % multiple == 0;
}

std::optional<std::int64_t> SizeRange::count() const {
  if (!high) return std::nullopt;
  const std::int64_t first = first_in(*this);
  return first > *high ? 0 : (*high - first) / multiple + 1;
}

std::optional<std::int64_t> SizeRange::exact() const {
  if (count() != std::int64_t{1}) return std::nullopt;
  return first_in(*this);
}

std::string SizeRange::str() const {
  if (const auto value = exact()) return std::to_string(*value);
  const std::string interval = high      ? fmt::format("{} to {}", low, *high)
                               : low > 0 ? fmt::format("{} or more", low)
                                         : "";
  if (multiple == 1) return interval.empty() ? "any" : interval;
  return fmt::format("multiples of {}{}{}", multiple, interval.empty() ? "" : " from ", interval);
}

SizeRange intersect(const SizeRange& a, const SizeRange& b) {
  SizeRange both{a.size, std::max(a.low, b.low), a.high};
  if (b.high && (!both.high || *b.high < *both.high)) both.high = b.high;
  const std::int64_t part = b.multiple / std::gcd(a.multiple, b.multiple);
  if (a.multiple <= INT64_MAX / part) {
    both.multiple = a.multiple * part;
  } else {
    both.multiple = INT64_MAX;
    both.high = std::min(both.high.value_or(0), std::int64_t{0});
  }
  return both;
}

}  // namespace calotype
