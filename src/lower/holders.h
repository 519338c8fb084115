#pragma once
// Who holds an element in registers that are dealt out to the threads of a block, seen from a thread that
// uses it.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lower/loop_tree.h"

namespace calotype::lower {

/// A part of an axis on which a layout deals out elements, and the position there of the thread at hand
/// (undefined where no loop tells it).
struct HolderPlace {
  layout::Axis axis;
  const char* name;
  std::int64_t from, below;  ///< weights of the layout's digits
  Expr own;
};

/// Whether loops of the first definition of a Func are bound to lanes, and to warps.
struct WarpParts {
  bool lanes = false, warps = false;
};
WarpParts warp_parts(const LoopTree& tree, FuncId func);

/// The parts of the axes on which elements of the Func may lie, for a thread inside the loops `open`.
std::vector<HolderPlace> holder_places(const LoopTree& tree, FuncId func, const std::vector<LoopId>& open);

/// Coordinates counted from the first that is stored.
std::vector<Expr> within_storage(const Storage& storage, const std::vector<Expr>& coordinates,
                                 const ir::Facts& facts);

/// An element in registers.
struct Held {
  Expr slot;             ///< in its holder's registers
  bool own = true;       ///< the thread at hand is a holder
  bool in_block = true;  ///< some thread of the thread's own block is
  bool in_warp = true;   ///< and of its own warp
  Expr lane;             ///< then: the holder's, below 32 where the element is there
};

/// Of one stage, inside the loops around its definition: what it reads in registers.
class Holders {
 public:
  Holders(const LoopTree& tree, const KernelInfo& kernel, StageRef user, const std::vector<LoopId>& open);

  Held of(FuncId func, const std::vector<Expr>& coordinates);
  /// The slots that an element may lie in, those with the least number first, given those that loops tell
  /// which all lanes of a warp run alike; empty if more than `most` are possible.
  std::vector<Expr> slots_of(const Expr& slot, std::int64_t most) const;

  /// The statement inside loops over the thread's own position, where none of the open loops tells that and
  /// `of` has used it.
  ir::Stmt bound(ir::Stmt s) const;
  /// Where the stage needs what it reads: its guards and what its domain's condition says of coordinates.
  const Expr& needed() const { return needed_; }
  /// What is known there.
  const ir::Facts& facts() const { return facts_; }

 private:
  Expr along_x(const std::vector<HolderPlace>& places, const layout::Layout& layout,
               const std::vector<Expr>& local);
  Expr own_x();
  Expr own_part(ir::ThreadPart part);
  Expr own_along(int axis);
  Expr new_loop(int axis, ir::ThreadPart part, std::int64_t extent);
  Expr simple(const Expr& e) const { return ir::simplify(e, facts_); }

  const LoopTree& tree_;
  const KernelInfo& kernel_;
  const StageRef user_;
  const std::vector<LoopId>& open_;
  ir::Facts facts_;
  Expr needed_;
  std::vector<std::pair<ir::LoopInfo, std::int64_t>> made_;
};

}  // namespace calotype::lower
