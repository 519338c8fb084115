#pragma once
// The innermost loops of a tensor copy as one statement that copies a box.

#include "lower/copied_loops.h"

namespace calotype::lower {

/// The loops with the asynchronous store in them as a BulkStore of boxes: of all iterations of as many of the
/// innermost loops as each advance one more coordinate of the source by 1 and lie densely in the Func's
/// memory; the loops around start a box an iteration. Conditions that cut off the end of a box go: what lies
/// behind is copied too, or filled with zeros, and nobody reads it. Refused: an innermost loop that is no
/// side of a box, rows of other than whole 16 bytes, conditions that leave out others than the last, boxes
/// that would run into what others copy, loops bound to threads, and sources that are no tensors.
/// Of a multicast Func the blocks of the kernel's clusters have some of the boxes each, for all.
ir::Stmt box_copy(const LoopTree& tree, const KernelInfo& kernel, StageRef stage, const ir::Stmt& loops,
                  const PlaceIn& place);

/// The same the other way: boxes of an output, out of shared memory.
ir::Stmt box_out(const LoopTree& tree, StageRef stage, const ir::Stmt& loops, const PlaceIn& place);

}  // namespace calotype::lower
