#pragma once
// The threads of a block, and which of them combine their partial results of an update.

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Of the kernel that runs `nest`: the threads of its blocks and the blocks of its clusters. Around the loops
/// with partial results of threads stand Reduce nodes, with what combines them and how in
/// LoopTree::reductions.
KernelInfo group_threads(LoopTree& tree, Node& nest);

}  // namespace calotype::lower
