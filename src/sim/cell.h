#pragma once
// What a register holds for one thread: an integer or a float, as ir::Value without its type.

#include <cstdint>

#include "calotype/type.h"

namespace calotype::sim {

constexpr int kWarp = 32;
using LaneMask = std::uint32_t;

/// Integers sign- or zero-extended from their width, floats as a double that their type can represent.
union Cell {
  std::int64_t i;
  double f;
};

inline Cell of_int(std::int64_t i) { return {.i = i}; }
inline Cell of_float(double f) { return {.f = f}; }

/// What memory that nobody wrote reads as: every byte 0xff, a NaN in each float type.
Cell poison(Type type);

/// Elements in memory, a Bool as a byte.
Cell decode(Type type, const void* memory);
void encode(Type type, Cell cell, void* memory);

}  // namespace calotype::sim
