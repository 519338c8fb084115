#pragma once
// The threads of a block, and which of them combine their partial results of an update.

#include "lower/loop_tree.h"

namespace calotype::lower {

/// The most iterations that a loop has, at least 1. Refuses a loop whose extent has no constant bound, which
/// messages call `what` ("thread loop").
std::int64_t constant_extent(const LoopTree& tree, const LoopInfo& loop, const char* what,
                             const std::string& directive);

/// The threads along the axis of a loop that is bound to them, or the lanes, warps or blocks of a cluster.
std::int64_t all_positions(const LoopInfo& loop, const KernelInfo& kernel);

/// Makes a loop of the stage run so many iterations; those past its own become a guard's, and
/// LoopInfo::needed tells them apart.
void run_to(LoopTree& tree, LoopInfo& loop, std::int64_t extent, StageRef stage);

/// Of the kernel that runs `nest`: the threads of its blocks and the blocks of its clusters. Around the loops
/// with partial results of threads stand Reduce nodes, with what combines them and how in
/// LoopTree::reductions.
KernelInfo group_threads(LoopTree& tree, Node& nest);

}  // namespace calotype::lower
