// Elements in memory and as cells.

#include "sim/cell.h"

#include <cstring>

#include "ir/value.h"

namespace calotype::sim {
namespace {

template <class T>
T read(const void* memory) {
  T value;
  std::memcpy(&value, memory, sizeof value);
  return value;
}

template <class T>
void write(void* memory, T value) {
  std::memcpy(memory, &value, sizeof value);
}

template <class Signed, class Unsigned>
Cell read_int(Type type, const void* memory) {
  if (type.is_int()) return of_int(read<Signed>(memory));
  return of_int(static_cast<std::int64_t>(read<Unsigned>(memory)));
}

}  // namespace

Cell decode(Type type, const void* memory) {
  if (type.is_float()) {
    if (type.bits == 32) return of_float(read<float>(memory));
    if (type.bits == 64) return of_float(read<double>(memory));
    const auto bits = read<std::uint16_t>(memory);
    return of_float(type.code == TypeCode::BFloat ? bfloat_bits_to_float(bits) : half_bits_to_float(bits));
  }
  if (type.is_bool()) return of_int(read<std::uint8_t>(memory) != 0);
  switch (type.bits) {
    case 8:
      return read_int<std::int8_t, std::uint8_t>(type, memory);
    case 16:
      return read_int<std::int16_t, std::uint16_t>(type, memory);
    case 32:
      return read_int<std::int32_t, std::uint32_t>(type, memory);
    default:
      return of_int(read<std::int64_t>(memory));
  }
}

void encode(Type type, Cell cell, void* memory) {
  if (type.is_float()) {
    if (type.bits == 64) return write(memory, cell.f);
    const auto narrow = static_cast<float>(cell.f);
    if (type.bits == 32) return write(memory, narrow);
    return write(memory,
                 type.code == TypeCode::BFloat ? float_to_bfloat_bits(narrow) : float_to_half_bits(narrow));
  }
  switch (type.bytes()) {
    case 1:
      return write(memory, static_cast<std::uint8_t>(cell.i));
    case 2:
      return write(memory, static_cast<std::uint16_t>(cell.i));
    case 4:
      return write(memory, static_cast<std::uint32_t>(cell.i));
    default:
      return write(memory, cell.i);
  }
}

Cell poison(Type type) {
  const std::uint64_t bytes = ~std::uint64_t{0};
  return decode(type, &bytes);
}

}  // namespace calotype::sim
