#pragma once
// Loops around an asynchronous store that become one copy: what rows and boxes have in common.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lower/loop_tree.h"

namespace calotype::lower {

/// Whether the node is the outermost of the loops that are made into bulk copies together: around nothing but
/// the body of one.
bool begins_copy(const Node& node);

/// As a definition has it, an expression with its coordinates as values of the loops.
using PlaceIn = std::function<Expr(const Expr&)>;
/// A statement run by one thread of the block.
using ByOne = std::function<ir::Stmt(const ir::Stmt&)>;

/// The asynchronous stores in the loops as bulk copies: see row_copy.h and box_copy.h. What else is in the
/// loops follows, in loops of one thread. `open`: the loops around.
ir::Stmt copy_in_bulk(const LoopTree& tree, const KernelInfo& kernel, StageRef stage, const ir::Stmt& loops,
                      const std::vector<LoopId>& open, const PlaceIn& place);

/// A loop with an asynchronous store somewhere in it, and what stands on the way there.
class CopiedLoops {
 public:
  /// `how`: "in whole rows"; `otherwise`: another way that any copy takes, "copy(async)".
  CopiedLoops(const LoopTree& tree, StageRef stage, const char* how, const char* otherwise)
      : tree_(tree), stage_(stage), how_(how), otherwise_(otherwise) {}

 protected:
  /// One of the loops.
  struct Around {
    ir::LoopInfo info;
    Expr min, extent;
  };

  /// Walks to the store: the loops on the way outermost first, the conditions, names replaced by their
  /// values.
  void find(const ir::Stmt& s);

  const lang::FuncDef& func() const { return tree_.func(stage_.func); }
  const RingUse& ring() const { return tree_.rings[tree_.ring_of.at(stage_.func)]; }
  Expr simple(const Expr& e) const { return ir::simplify(e, tree_.facts); }
  Expr at(const Expr& e, const ir::SymbolPtr& variable, const Expr& value) const {
    return simple(ir::substitute(e, {{variable, value}}));
  }
  /// From one iteration to the next; undefined: not always the same.
  Expr step(const Expr& e, const ir::SymbolPtr& variable) const;

  /// Iterations happen as long as there is room, of which each takes some.
  struct End {
    Expr room;
    std::int64_t taken = 0;
  };
  /// What a condition says of the iterations; refused if it leaves out others than the last.
  End end_of(const Expr& condition, const ir::SymbolPtr& variable) const;

  /// Refuses a loop around copies that is a vector.
  void require_no_vector(const std::string& loop, ir::Binding binding) const;
  [[noreturn]] void refuse(const std::string& message, std::string value, std::string legal) const;
  /// With the conditions around, and what asks for it.
  ir::Stmt finished(ir::Stmt copy, const std::vector<Expr>& conditions) const;

  const LoopTree& tree_;
  const StageRef stage_;
  const char *how_, *otherwise_;
  std::vector<Around> loops_;
  std::vector<Expr> conditions_;  ///< none is an And
  ir::Stmt store_;
};

}  // namespace calotype::lower
