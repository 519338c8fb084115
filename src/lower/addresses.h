#pragma once
// Where elements lie: coordinates as one index into a buffer.

#include <vector>

#include "lower/loop_tree.h"

namespace calotype::lower {

class Addresses {
 public:
  Addresses(const LoopTree& tree, ir::Algebra& algebra) : tree_(tree), algebra_(algebra) {}

  /// The index of an element of a Func in one of its buffers, used by a stage inside the loops `open`: by its
  /// layout, ring or strides. Error(Schedule) if it is in registers that another thread than this one holds.
  Expr of(FuncId func, const ir::BufferPtr& buffer, const std::vector<Expr>& coordinates, StageRef user,
          const std::vector<LoopId>& open) const;
  /// By strides alone; along a dimension that is folded the place in the ring.
  Expr strided(const ir::BufferPtr& buffer, const std::vector<Expr>& coordinates,
               const std::vector<std::int64_t>& folds) const;
  /// Where the copy in use begins, of storage that has several.
  static Expr start_of_copy(const Storage& storage, const ir::BufferPtr& buffer);

 private:
  /// The slot of an element of a scan whose slots move up, used by a stage inside the loops `open`. What the
  /// update reads is where it was before they moved.
  Expr slot_of(const FoldedScan& scan, const std::vector<Expr>& coordinates, StageRef user,
               const std::vector<LoopId>& open) const;
  void require_dealt_out(FuncId func, const layout::Layout& layout, StageRef user,
                         const std::vector<LoopId>& open) const;
  Expr simple(const Expr& e) const { return algebra_.simplify(e); }
  std::vector<Expr> positions(const Storage& storage, const std::vector<Expr>& coordinates) const;
  Expr in_registers(FuncId func, const Storage& storage, const std::vector<Expr>& coordinates, StageRef user,
                    const std::vector<LoopId>& open) const;

  const LoopTree& tree_;
  ir::Algebra& algebra_;
};

/// The coordinates that the buffer holds.
Box box_of(const ir::Buffer& buffer);
/// Whether all coordinates lie in the box.
Expr is_inside(const std::vector<Expr>& coordinates, const Box& box);

}  // namespace calotype::lower
