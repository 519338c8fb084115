#pragma once
// Random choices that are the same on every machine.

#include <cstdint>
#include <random>
#include <vector>

namespace calotype::fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// 0 to n - 1.
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  /// low to high, both included.
  std::int64_t within(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<std::int64_t>(all.size())))];
  }
  /// An index, each with its weight.
  std::size_t weighted(const std::vector<int>& weights) {
    int total = 0;
    for (int w : weights) total += w;
    std::int64_t left = below(total);
    std::size_t i = 0;
    for (; left >= weights[i]; ++i) left -= weights[i];
    return i;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace calotype::fuzz
