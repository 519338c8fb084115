#pragma once
// What a prefetch becomes.

#include "lower/addresses.h"

namespace calotype::lower {

/// Hints for the lines of cache that hold the region: along dimension 0 where its stride is 1 one element of
/// each.
ir::Stmt fetch_ahead(const LoopTree& tree, const Addresses& addresses, const PrefetchRegion& region);

}  // namespace calotype::lower
