#pragma once
// The innermost loop of a bulk copy as one statement that copies a row.

#include <functional>

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Whether the node is a loop around nothing but the body of a bulk copy.
bool is_row_copy(const Node& node);

/// The loop's asynchronous store as a BulkStore of all its iterations, or of those that conditions inside
/// leave: one for the block if none of the loops `open` around is bound to threads, else one for each of
/// them, by the first along other axes, as `by_one` says. What else is in the loop follows, in a loop of one
/// thread. Refused: a loop that is not serial, elements that are no neighbours in the Func's memory or, as
/// far as is known, where they are read, and conditions that do not cut off the end.
ir::Stmt row_copy(const LoopTree& tree, StageRef stage, const ir::Stmt& loop, const std::vector<LoopId>& open,
                  const std::function<ir::Stmt(const ir::Stmt&)>& by_one);

}  // namespace calotype::lower
