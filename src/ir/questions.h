#pragma once
// Questions that several passes ask of an expression.

#include <cstddef>

#include "ir/expr_node.h"

namespace calotype::ir {

/// Nodes of the expression as a tree, up to one more than `most`: cheap where shared nodes make the tree
/// huge.
std::size_t size_up_to(const Expr& e, std::size_t most);
/// Whether it loads from a buffer, or reads a Func or input that bounds have not made a load yet.
bool reads_memory(const Expr& e);
/// Whether a node, apart from its operands, keeps an expression from having one value for a whole call: a
/// coordinate, an element, and what has to happen where it stands (require, print).
bool varies_in_a_call(const Expr& node);

}  // namespace calotype::ir
