#pragma once
// The innermost loop of a bulk copy as one statement that copies a row.

#include "lower/copied_loops.h"

namespace calotype::lower {

/// The loop's asynchronous store as a BulkStore of all its iterations, or of those that conditions inside
/// leave: one for the block if none of the loops `open` around is bound to threads, else one for each of
/// them, by the first along other axes, as `by_one` says. Refused: a loop that is not serial, elements that
/// are no neighbours in the Func's memory or, as far as is known, where they are read, and conditions that do
/// not cut off the end.
ir::Stmt row_copy(const LoopTree& tree, StageRef stage, const ir::Stmt& loop, const std::vector<LoopId>& open,
                  const ByOne& by_one);

}  // namespace calotype::lower
