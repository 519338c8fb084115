#pragma once
// The stores of one evaluation of a definition, and loads of what is stored.

#include "ir/simplify.h"
#include "lower/loop_tree.h"

namespace calotype::lower {

/// Every component gets its value as computed from what was there before. A component of several that keeps
/// its value is not stored, unless `all` are asked for, as where places move; values that read what an
/// earlier store overwrites are named before it.
ir::Stmt store_values(const std::vector<ir::BufferPtr>& buffers, const std::vector<Expr>& values,
                      const std::vector<Expr>& indices, bool all = false);

/// The buffer of the first store among the statements, of which there is one.
ir::BufferPtr first_stored(const ir::Stmt& stores);

/// Slots in which a scan has its last values, the newest first.
struct Slots {
  std::int64_t count = 1;
  Expr stride;     ///< elements from one to the next
  Expr available;  ///< how many hold a value
};
/// Stores of such a scan, to the first slot: in front of each, after the value to be stored is computed, slot
/// i + 1 takes what slot i has.
ir::Stmt with_slots_moved(const ir::Stmt& stores, const Slots& slots, const ir::Facts& facts);

/// The storage of the scan that the stage writes, if its last values are in slots that move; else null.
const Storage* moving_slots(const LoopTree& tree, StageRef ref);

/// Whether the coordinates lie in what is stored of a Func, in its storage or else in the output's buffer.
Expr is_stored(const LoopTree& tree, FuncId func, const ir::Buffer& buffer,
               const std::vector<Expr>& coordinates);

/// Whether what the stage writes are the values that are stored for the caller. Of a scan of which memory has
/// the last ones alone each stage writes some.
bool is_final(const LoopTree& tree, StageRef ref);

/// A value of the type from a buffer, which may hold the bits of it.
Expr loaded(Type type, const ir::BufferPtr& buffer, const Expr& index);

/// Whether a component of a Tuple stays as it is, so that its value is not read.
bool is_kept(const LoopTree& tree, StageRef ref, std::size_t component, const Expr& value);

}  // namespace calotype::lower
