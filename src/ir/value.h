#pragma once
// Scalar values and the meaning of every operation on them: the one place that defines the arithmetic of the
// language (DESIGN: integers floor and wrap, floats round to their type after each operation).

#include <cstdint>
#include <optional>
#include <span>

#include "ir/expr_node.h"

namespace calotype::ir {

/// A scalar of a type. Integers: `i`, sign- or zero-extended from their width (UInt(64) as the bits of the
/// int64), Bool 0 or 1. Floats: `f`, a double that the type can represent.
struct Value {
  Type type;
  union {
    std::int64_t i;
    double f;
  };
  static Value of_int(Type type, std::int64_t value);  ///< wraps to the type
  static Value of_float(Type type, double value);      ///< rounds to the type
};

/// The int64 that stands for the low bits of `value` in an integer type; for Bool: whether it is not 0.
std::int64_t wrap_int(Type type, std::int64_t value);
/// The value of a float type nearest to `value`, halves to even. Beyond the largest: infinity; of a type of 8
/// bits the largest, but infinity stays where the type has it.
double round_float(Type type, double value);
/// The largest finite value of a float type of 8 bits.
double largest_float8(Type type);
/// A value that a float type of 8 bits holds, as its bits, and back.
std::uint8_t float8_bits(Type type, double value);
double float8_value(Type type, std::uint8_t bits);
/// What a float becomes on its way into a type of 8 bits, before it is rounded: beyond the largest value that
/// one, NaN the one NaN that conversions give.
double saturate_float8(Type type, double value);

/// Convert as Op::Cast does.
Value convert(Type type, Value value);

/// The result of a scalar operation; nullopt for operations that have no value of their own (leaves, memory,
/// vector).
std::optional<Value> apply(Op op, Type type, std::span<const Value> operands);

/// The value of a Const node, and back.
Value value_of(const Expr& constant);
Expr make_value(const Value& value);

}  // namespace calotype::ir
