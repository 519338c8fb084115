#pragma once
// What one thread does for all.

#include "lower/loop_tree.h"

namespace calotype::lower {

/// The statement of a Func, inside the loops `open`, run by one thread along each axis of the block that none
/// of them binds, or by the first one of the Func's role; with `of_cluster` of one block of the cluster.
ir::Stmt by_first_thread(const LoopTree& tree, const KernelInfo& kernel, FuncId func,
                         const std::vector<LoopId>& open, ir::Stmt s, bool of_cluster);

/// A loop over all threads along an axis, or all lanes or warps of x, for a Func none of whose loops tells
/// the position.
ir::LoopInfo all_threads(const LoopTree& tree, FuncId func, int axis, ir::ThreadPart part);

}  // namespace calotype::lower
