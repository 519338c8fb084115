#pragma once
// Buffers as calls pass them whose boxes are copied.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "calotype/buffer.h"

namespace calotype::testing {

/// The same values in other memory, whose rows lie `pitch` bytes apart; what is between them is not 0. 0: the
/// least multiple of 16.
inline Buffer tensor_of(const Buffer& values, std::int64_t pitch = 0) {
  const std::int64_t size = values.type().bytes(), row = values.extent(0) * size;
  std::vector<std::int64_t> extents, strides;
  std::int64_t bytes = pitch != 0 ? pitch : (row + 15) / 16 * 16;
  for (int d = 0; d < values.rank(); ++d) {
    extents.push_back(values.extent(d));
    strides.push_back(d == 0 ? 1 : bytes / size);
    if (d > 0) bytes *= values.extent(d);
  }
  const std::int64_t all = std::abs(bytes) + 2 * 4096;
  auto memory = std::make_shared<std::vector<unsigned char>>(static_cast<std::size_t>(all), 0x71);
  const std::int64_t past = 4096 - reinterpret_cast<std::intptr_t>(memory->data()) % 4096;
  const std::int64_t below = pitch < 0 ? pitch - bytes : 0;  // the first row is the last in memory
  Buffer b(values.type(), memory->data() + past + below, extents, strides, memory);
  std::vector<std::int64_t> at(extents.size(), 0);
  for (std::int64_t i = 0; i < values.elements(); ++i) {
    b.set_value(at, values.value(at));
    for (std::size_t d = 0; d < at.size() && ++at[d] == extents[d]; ++d) at[d] = 0;
  }
  return b;
}

}  // namespace calotype::testing
