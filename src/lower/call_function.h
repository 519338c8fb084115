#pragma once
// The statement of a stage that a function computes.

#include <functional>

#include "lower/loop_tree.h"

namespace calotype::lower {

/// An element in memory.
struct Element {
  ir::BufferPtr buffer;
  Expr index;
};

/// The call of the function that computes the stage, where there is anything to compute. `element_of` finds
/// the element of a Func or input at coordinates.
ir::Stmt call_function(
    const LoopTree& tree, StageRef stage,
    const std::function<Element(const ir::CalleePtr&, const std::vector<Expr>& coordinates)>& element_of);

}  // namespace calotype::lower
