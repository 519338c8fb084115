#pragma once
// What a stage reads in registers that other threads hold.

#include <utility>
#include <vector>

#include "lower/holders.h"
#include "lower/loop_tree.h"

namespace calotype::lower {

/// The reads of one definition of which LoopTree::conversions tells.
class ConvertedReads {
 public:
  /// Of a stage inside the loops `open`.
  ConvertedReads(const LoopTree& tree, const KernelInfo& kernel, StageRef reader,
                 const std::vector<LoopId>& open)
      : tree_(tree), reader_(reader), holders_(tree, kernel, reader, open) {}

  /// The value of a call of a Func that is converted for the reader, whose coordinates have been put in.
  Expr read(const Expr& call);
  /// The definition, with guards of its own, behind the shuffles whose results it uses. These stand outside
  /// of every condition, since all lanes of a warp take part.
  ir::Stmt around(ir::Stmt s) const;

 private:
  Expr shuffled(const Held& held, const Storage& storage, const ir::BufferPtr& buffer);
  Expr shuffle(const ir::BufferPtr& buffer, const Expr& slot, std::int64_t slots, const Expr& lane,
               const Expr& when);

  const LoopTree& tree_;
  const StageRef reader_;
  Holders holders_;
  std::vector<std::pair<ir::SymbolPtr, Expr>> shuffles_;
};

/// The stores of a Func's element to shared memory: at the coordinates, from the slots `indices`, one a
/// component.
ir::Stmt publish_element(const LoopTree& tree, FuncId func, const std::vector<Expr>& coordinates,
                         const std::vector<Expr>& indices);

/// Whether a nest copies a Func's elements to shared memory: loops around a Publish node.
bool publishes(const Node& nest);

}  // namespace calotype::lower
