#pragma once
// SizeRange: the values of a named size that a kernel, or a case of a schedule file, is for.

#include <cstdint>
#include <optional>
#include <string>

namespace calotype {

/// The multiples of `multiple` from `low` to `high`, both included.
struct SizeRange {
  std::string size;  ///< the name of a Dim
  std::int64_t low = 0;
  std::optional<std::int64_t> high = {};  ///< none: no upper end
  std::int64_t multiple = 1;

  bool operator==(const SizeRange&) const = default;
  bool contains(std::int64_t value) const;
  /// How many values there are; none: without end.
  std::optional<std::int64_t> count() const;
  /// The one value, if there is just one.
  std::optional<std::int64_t> exact() const;
  /// "64", "64 to 128", "64 or more", "multiples of 16 from 64 to 128", "any".
  std::string str() const;
};

/// The values in both, of the size that `a` names. `multiple` stays within 63 bits: a pair whose least common
/// multiple does not has no value but 0.
SizeRange intersect(const SizeRange& a, const SizeRange& b);

}  // namespace calotype
