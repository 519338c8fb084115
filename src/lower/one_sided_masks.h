#pragma once
// Guards of tails that mask loads alone (PredicateLoads) or stores alone (PredicateStores): they stand in the
// accesses of a body, where those of other tails stand around it.

#include <vector>

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Whether a guard is one of these.
bool masks_one_side(const Guard& guard);
/// An expression of the body with its loads under their masks; `own` holds the buffers of the stage's Func.
Expr with_masked_loads(const LoopTree& tree, StageRef stage, const std::vector<ir::BufferPtr>& own,
                       const Expr& e);
ir::Stmt with_masked_stores(const LoopTree& tree, StageRef stage, const ir::Stmt& s);
/// What is there for values that are needed alone: checks, lines that are printed, copies.
ir::Stmt for_needed(const LoopTree& tree, StageRef stage, const ir::Stmt& s);

}  // namespace calotype::lower
