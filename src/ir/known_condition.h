#pragma once
// What a condition that is known to hold says of the symbols in it.

#include <optional>
#include <vector>

#include "ir/simplify.h"

namespace calotype::ir {

/// The conditions that all hold if `condition` does, without any && between them.
std::vector<Expr> parts_of(const Expr& condition);

/// The values of a symbol: from low to high, where there are such ends, and multiples of `multiple`.
struct SymbolValues {
  SymbolPtr symbol;
  std::optional<std::int64_t> low, high;
  std::int64_t multiple = 1;
  std::optional<std::int64_t> exact() const { return low == high ? low : std::nullopt; }
};
/// If the condition compares an integer symbol, or its remainder, with a constant: the values that it leaves.
std::optional<SymbolValues> values_left(const Expr& condition);

/// Adds to the facts what a condition says: itself, ranges and multiples.
void learn(Facts& facts, const Expr& condition);

}  // namespace calotype::ir
