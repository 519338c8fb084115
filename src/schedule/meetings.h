#pragma once
// Whether iterations of a reduction loop touch what others of it write.
//
// Two iterations meet if they write one place, or one reads what the other one writes. They do not if the
// coordinates written tell the value of every reduction dimension that the loop runs over: some coordinate is
// linear in it, with a rest that is known as well. A value read is the iteration's own where those
// coordinates are the same; else what is read has to lie where nothing is written.

#include <set>

#include "ir/simplify.h"
#include "schedule/state.h"

namespace calotype::schedule {

/// The meetings of one loop of an update.
class Meetings {
 public:
  /// `outside_stands`: iterations that run at one time have the same values of the loops outside. Without it
  /// they may differ in those as well.
  Meetings(const State& state, FuncId func, int stage, LoopId loop, bool outside_stands);

  /// How two iterations meet, as a part of a sentence; empty: it is proved that none do.
  std::string find() const;

 private:
  void fix_outer_loops();
  bool is_variable(const ir::SymbolPtr& s) const;
  bool told(const ir::SymbolPtr& symbol, std::set<std::size_t>& telling, std::set<ir::SymbolPtr>& open) const;
  bool reads_self(const Expr& e) const;
  std::vector<Expr> own_reads() const;
  bool apart(const Expr& read) const;
  const lang::ReductionDim& dim(int d) const { return def_.reduction[d - f_.rank()]; }

  std::string place() const;
  std::string of_writes() const;
  std::string of_read(const Expr& read) const;
  std::string other_iteration(const Expr& read) const;

  const State& state_;
  const FuncId func_;
  const int stage_;
  const LoopId loop_;
  const lang::FuncDef& f_;
  const lang::StageDef& def_;
  const StageSchedule& sched_;
  const std::string& name_;
  std::set<ir::SymbolPtr> fixed_;  ///< reduction dimensions that stand still
};

/// Whether iterations of the loop have nothing to do with each other, whatever the other loops' values: it
/// may stand anywhere among them. So may a pure loop.
bool is_independent(const State& state, FuncId func, int stage, LoopId loop);

}  // namespace calotype::schedule
