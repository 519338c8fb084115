#pragma once
// Boxes that each block of a cluster copies for all of them: what that takes of a Func, and of the loops
// around.

#include <optional>

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Whether boxes of the Func go to all blocks of its cluster.
bool is_multicast(const LoopTree& tree, FuncId func);
/// The loop around the Func that is bound to the blocks of a cluster.
std::optional<LoopId> cluster_around(const LoopTree& tree, FuncId func);
/// Refuses a multicast Func that is in no cluster, or of which its blocks do not need the same, at the same
/// time.
void require_common(const LoopTree& tree, FuncId func);
/// Of one copy of the Func's memory, which its boxes fill.
std::int64_t stored_bytes(const LoopTree& tree, FuncId func);
[[noreturn]] void refuse_multicast(const LoopTree& tree, FuncId func, std::string message, std::string value,
                                   std::string legal);

}  // namespace calotype::lower
