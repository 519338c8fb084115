#pragma once
// Statements of a loop's body for another iteration than the one at hand: what a software pipeline makes of
// its copies.

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Whether part of the loop's body runs ahead.
bool is_pipeline(const Node& loop);
/// The loop over the iterations of a First node, counted from 0.
ir::LoopInfo first_loop(const LoopTree& tree, const Node& first);
/// A body of the loop with the names at its head: all of them, or those that it uses.
ir::Stmt with_names(const LoopInfo& loop, ir::Stmt s, bool used_alone);
/// What stands in the body of the loop, as it is in `iteration` and if the loop has that one, with names of
/// its own.
ir::Stmt in_iteration(const LoopInfo& loop, const ir::Stmt& s, const Expr& iteration);

/// The loop of a node as printers and debuggers see it.
ir::LoopInfo shown(const LoopTree& tree, const Node& node);

}  // namespace calotype::lower
