#pragma once
// Inputs for tests.

#include <random>

#include "calotype/buffer.h"

namespace calotype::testing {

/// A buffer of random values: floats uniform in [-2, 2) without 0, integers small and not all alike.
inline Buffer random_buffer(Type type, std::vector<std::int64_t> extents, std::uint64_t seed) {
  Buffer b(type, std::move(extents));
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> at(b.rank(), 0);
  for (std::int64_t i = 0; i < b.elements(); ++i) {
    double value = 0;
    if (type.is_float())
      value = std::uniform_real_distribution<double>(0.01, 2.0)(random) * (random() % 2 ? 1 : -1);
    else if (type.is_uint())
      value = static_cast<double>(1 + random() % (type.is_bool() ? 1 : 200));
    else
      value = static_cast<double>(static_cast<std::int64_t>(random() % 101) - 50);
    b.set_value(at, value);
    for (int d = 0; d < b.rank(); ++d) {
      if (++at[d] < b.extent(d)) break;
      at[d] = 0;
    }
  }
  return b;
}

}  // namespace calotype::testing
