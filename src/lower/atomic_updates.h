#pragma once
// Updates by several lanes or threads of one place.

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Whether iterations that run at one time meet in a place.
bool is_atomic(const LoopTree& tree, StageRef stage);

/// Refuses such an update where the place is in memory that each thread of a GPU has for itself.
void require_shared(const LoopTree& tree, StageRef stage, const ir::Buffer& buffer);

}  // namespace calotype::lower
