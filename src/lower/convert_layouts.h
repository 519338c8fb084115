#pragma once
// Conversions of the layouts that registers of a block's threads have, to what their readers need.

#include "lower/loop_tree.h"

namespace calotype::lower {

/// The most slots of another lane that one read is chosen from, each by a shuffle.
constexpr std::int64_t kMostShuffles = 8;

/// Of the kernel that runs `nest`: LoopTree::conversions for what its stages read of other threads. Stages
/// with shuffles run in all threads of a block alike, with guards for iterations that there are none of;
/// behind the production of what is read through shared memory a nest of Publish nodes puts it there.
void convert_layouts(LoopTree& tree, const KernelInfo& kernel, Node& nest);

}  // namespace calotype::lower
