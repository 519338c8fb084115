#pragma once
// What a prefetch becomes.

#include "lower/addresses.h"

namespace calotype::lower {

/// The body of the loop behind its hints for the lines of cache that hold the regions: along dimension 0
/// where its stride is 1 one element of each.
ir::Stmt fetch_ahead(const LoopTree& tree, const Addresses& addresses, const LoopInfo& loop, ir::Stmt body);

}  // namespace calotype::lower
