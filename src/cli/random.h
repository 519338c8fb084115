#pragma once
// Random inputs: a counter-based generator, so that element i of stream s is the same on every platform and
// in any order of generation.

#include "calotype/buffer.h"

namespace calotype::cli {

/// 64 random bits for element `index` of a stream.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);
/// A standard normal value, by basic arithmetic only: the same bits everywhere.
double random_normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

/// Floats normal; Bool and 8-bit integers uniform over their range; wider integers uniform in [-100, 100], or
/// [0, 200] unsigned, so that sums of products stay exact.
Buffer random_buffer(Type type, const std::vector<std::int64_t>& extents, std::uint64_t seed,
                     std::uint64_t stream);

}  // namespace calotype::cli
