#pragma once
// Statements of a loop's body for another iteration than the one at hand: what a software pipeline makes of
// its copies.

#include <functional>

#include "lower/loop_tree.h"

namespace calotype::lower {

/// A body of the loop with those of the names at its head that it uses.
ir::Stmt with_names(const LoopInfo& loop, ir::Stmt s);
/// The children of a First, Ahead, Behind or Last node, as `emit` makes them, in the iterations that the node
/// stands for.
ir::Stmt in_other_iterations(const LoopTree& tree, const Node& node,
                             const std::function<ir::Stmt(const Node&)>& emit);

/// The loop of a node as printers and debuggers see it.
ir::LoopInfo shown(const LoopTree& tree, const Node& node);

}  // namespace calotype::lower
