#pragma once
// Swizzles of shared memory: pieces of 16 bytes change places within a row, by the number of the row.
//
// A block's shared memory has 32 banks of 4 bytes, so rows of 128 bytes have a column of pieces in the same
// four banks. With the number of the row, modulo 8, combined into the place of the piece by exclusive or,
// eight rows have it in different ones; rows of 64 and 32 bytes, two and four to a row of banks, need less.
// It is the layout of Hopper's tensor copies and matrix instructions (PTX ISA, "Shared memory matrix
// layout").

#include <cstdint>

namespace calotype::layout {

/// Where element `index` of memory whose rows take `row` bytes (32, 64, 128) lies: bits of the index above
/// the row combined into those of the piece. Its own inverse; elements of a piece stay side by side.
constexpr std::int64_t swizzle_mask(std::int64_t row, std::int64_t element_bytes) {
  return (row - 16) / element_bytes;
}
constexpr std::int64_t swizzled(std::int64_t index, std::int64_t row, std::int64_t element_bytes) {
  return row == 0 ? index : index ^ (index >> 3 & swizzle_mask(row, element_bytes));
}

}  // namespace calotype::layout
