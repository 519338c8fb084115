#pragma once
// The statements by which threads combine their partial results of an update: shuffles between lanes, then
// slots in shared memory.

#include <functional>

#include "lower/partial_results.h"

namespace calotype::lower {

/// Whether partial results of the component matter: one that keeps its value has none.
bool combines(const schedule::Associative& proof, std::size_t component);

class CombineThreads {
 public:
  /// Of a stage with a Reduce node, inside the loops `open` that stand around it.
  CombineThreads(const LoopTree& tree, StageRef stage, const PartialResults& partial,
                 const std::vector<LoopId>& open);

  /// Lanes that are reduced over have their results combined, in each of them.
  ir::Stmt shuffle() const;
  /// The results go to the slots.
  ir::Stmt send() const;
  /// What is in the slots is combined, in each thread of the group.
  ir::Stmt receive() const;
  /// The statement, with the slots allocated around it.
  ir::Stmt allocated(ir::Stmt s) const;

 private:
  using Digit = ThreadReduction::Digit;

  /// A thread's positions, by the loops around where they are bound, else by loops that it makes.
  class Positions {
   public:
    Positions(const CombineThreads& of) : of_(of) {}
    Expr operator()(std::size_t digit);
    /// Of a thread among those along the axis.
    Expr along(int axis, std::int64_t extent);
    /// The statement, inside the loops made.
    ir::Stmt bound(ir::Stmt s) const;

   private:
    Expr along_x(std::size_t digit);
    Expr rank();
    Expr new_loop(int axis, ir::ThreadPart part, std::int64_t extent);
    const CombineThreads& of_;
    std::vector<std::pair<ir::LoopInfo, std::int64_t>> made_;
    Expr whole_x_, along_y_;
  };

  /// The statements that `step` makes for each of the thread's results.
  ir::Stmt of_each(ir::Stmt (CombineThreads::*step)() const) const;
  ir::Stmt shuffle_result() const;
  ir::Stmt send_result() const;
  ir::Stmt receive_result() const;
  /// The result at hand, by component.
  std::vector<Expr> own() const;
  std::int64_t lanes() const;
  ir::Stmt shuffle_over(std::int64_t lanes) const;
  ir::Stmt shuffle_step(std::int64_t distance) const;
  ir::Stmt combine_with(const std::vector<Expr>& others) const;
  ir::Stmt read_all(const Expr& first) const;
  ir::Stmt read_in_loops(const Expr& first) const;
  ir::Stmt read_by_lanes(Positions& positions, const Expr& first) const;
  ir::Stmt start() const;
  ir::Stmt stored_at(const Expr& index, const Expr& rank) const;
  Expr place() const { return ir::index(result_); }
  Expr own_slot(Positions& positions, bool group) const;
  std::int64_t stride(std::size_t digit) const;
  Expr offset_of(const Expr& number) const;
  std::vector<Expr> slot(const Expr& index) const;
  ir::Stmt store(const std::vector<Expr>& values) const;
  bool is_combined(std::size_t component) const;
  Expr simple(const Expr& e) const { return ir::simplify(e, tree_.facts); }

  const LoopTree& tree_;
  const StageRef stage_;
  const ThreadReduction& reduction_;
  const PartialResults& partial_;
  const std::vector<LoopId>& open_;
  std::int64_t result_ = 0;  ///< the one at hand of the thread's results
};

}  // namespace calotype::lower
