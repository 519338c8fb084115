#pragma once
// Inputs of which every order of additions and multiplications gives the same.

#include <random>
#include <utility>
#include <vector>

#include "calotype/buffer.h"

namespace calotype::testing {

/// Powers of two of either sign (unsigned and bool: small numbers), so that sums and products are exact.
inline Buffer powers(Type type, std::vector<std::int64_t> extents, unsigned seed) {
  Buffer b(type, std::move(extents));
  std::mt19937 random(seed);
  std::vector<std::int64_t> at(b.rank(), 0);
  const double floats[] = {1, -1, 2, 0.5, -1, 1}, whole[] = {1, 3, 2, 5, 1, 7};
  for (std::int64_t i = 0; i < b.elements(); ++i) {
    const double value = type.is_float()  ? floats[random() % 6]
                         : type.is_bool() ? static_cast<double>(random() % 2)
                                          : whole[random() % 6] * (type.is_int() && random() % 2 ? -1 : 1);
    b.set_value(at, value);
    for (int d = 0; d < b.rank() && ++at[d] == b.extent(d); ++d) at[d] = 0;
  }
  return b;
}

}  // namespace calotype::testing
