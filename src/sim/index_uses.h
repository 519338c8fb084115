#pragma once
// Which names an index of memory comes of: their sums and products must not leave their type.

#include <cstdint>
#include <unordered_set>

#include "ir/stmt.h"

namespace calotype::sim {

/// `unique` of every symbol bound in the body whose value an index of a load or store, the bounds of a loop
/// or another such symbol depend on.
std::unordered_set<std::uint64_t> index_uses(const ir::Stmt& body);

}  // namespace calotype::sim
