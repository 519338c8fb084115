#pragma once
// The stores of one evaluation of a definition, and loads of what is stored.

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Every component gets its value as computed from what was there before. A component of several that keeps
/// its value is not stored; values that read what an earlier store overwrites are named before it.
ir::Stmt store_values(const std::vector<ir::BufferPtr>& buffers, const std::vector<Expr>& values,
                      const std::vector<Expr>& indices);

/// A value of the type from a buffer, which may hold the bits of it.
Expr loaded(Type type, const ir::BufferPtr& buffer, const Expr& index);

/// Whether a component of a Tuple stays as it is, so that its value is not read.
bool is_kept(const LoopTree& tree, StageRef ref, std::size_t component, const Expr& value);

}  // namespace calotype::lower
