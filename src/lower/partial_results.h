#pragma once
// The statements of an update whose lanes or threads have partial results: what stands before, in and behind
// the loops over which the place that is updated stays.

#include <functional>

#include "lower/loop_tree.h"
#include "schedule/associative.h"
#include "schedule/lane_nest.h"

namespace calotype::lower {

class PartialResults {
 public:
  /// Of a stage with a loop whose sharing is Partial.
  PartialResults(const LoopTree& tree, StageRef stage);

  /// The loop around which the partial results live.
  LoopId around() const { return nest_.around; }
  /// Whether the loop is inside `around`, or it itself.
  bool has(LoopId loop) const;
  /// Whether it also is reduced over.
  bool is_inside(LoopId loop) const;
  const schedule::Associative& proof() const { return proof_; }

  /// The lane's partial result, combined with the terms.
  ir::Stmt accumulate(const std::vector<Expr>& terms) const;

  /// `loop`, which is `around` with what accumulates in it: before it the partial results become the
  /// identity, after it they are combined. `finish` makes the statement that updates the place by the values
  /// given, one a component.
  ir::Stmt wrap(ir::Stmt loop, const std::function<ir::Stmt(const std::vector<Expr>&)>& finish) const;

  // Of threads: what stands around `loop` in each of them.
  /// `loop`, and its results as those of the thread, in `own`.
  ir::Stmt in_thread(ir::Stmt loop) const;
  /// Places that a thread has results of: one, or one a lane where lanes are not reduced over.
  std::int64_t results() const { return results_; }
  /// The thread's results, by component.
  const std::vector<ir::BufferPtr>& own() const { return own_; }
  /// `finish` of each of the thread's results.
  ir::Stmt of_results(const std::function<ir::Stmt(const std::vector<Expr>&)>& finish) const;
  /// The statement, with the partial results allocated around it.
  ir::Stmt allocated(ir::Stmt s) const;

 private:
  /// A vector loop among the partial results: neighbours on it are `stride` elements apart.
  struct Axis {
    LoopId loop;
    std::int64_t lanes, stride;
    bool reduced;
  };

  std::vector<Axis> result_axes() const;
  ir::Stmt finish_each(const std::vector<ir::BufferPtr>& from, const std::vector<Axis>& results,
                       const std::function<ir::Stmt(const std::vector<Expr>&)>& finish) const;
  ir::Stmt start() const;
  ir::Stmt combine(const Axis& axis, const std::vector<Axis>& others) const;
  ir::Stmt combine_pairs(const Axis& axis, std::int64_t pairs, const std::vector<Axis>& others) const;
  ir::Stmt move_last(const Axis& axis, std::int64_t from, std::int64_t to,
                     const std::vector<Axis>& others) const;
  std::vector<std::vector<Expr>> half_of(std::vector<std::vector<Expr>> parts) const;
  static std::vector<Expr> load(const std::vector<ir::BufferPtr>& from, const Expr& position);
  std::vector<Expr> load(const Expr& position) const { return load(buffers_, position); }
  ir::Stmt collect(const std::vector<Axis>& results) const;
  ir::Stmt store(const std::vector<Expr>& values, const Expr& position) const;
  /// `body` in a vector loop over each axis.
  ir::Stmt vector_loops(const std::vector<std::pair<Axis, ir::SymbolPtr>>& axes, ir::Stmt body) const;
  std::vector<std::pair<Axis, ir::SymbolPtr>> with_variables(const std::vector<Axis>& axes) const;
  static Expr position_of(const std::vector<std::pair<Axis, ir::SymbolPtr>>& axes);

  const LoopTree& tree_;
  StageRef stage_;
  schedule::Associative proof_;
  schedule::LaneNest nest_;
  std::vector<Axis> axes_;              ///< innermost first
  std::vector<ir::BufferPtr> buffers_;  ///< by component
  std::vector<ir::BufferPtr> own_;      ///< of threads: the same where no lanes are reduced over
  std::int64_t elements_ = 1, results_ = 1;
};

}  // namespace calotype::lower
