#pragma once
// Edits of a stage's loops that several directives share, and what is known of a loop.

#include <optional>

#include "schedule/state.h"

namespace calotype::schedule {

/// The loops that an edit makes.
struct SplitLoops {
  LoopId outer, inner;
};

/// old -> outer, inner in its place. Refuses names that are taken and tails that do not fit.
SplitLoops split_loop(Application& a, LoopId old, const std::string& outer, const std::string& inner,
                      std::int64_t factor, Tail tail);
/// Two loops -> one in the place of the inner.
LoopId fuse_loops(Application& a, LoopId inner, LoopId outer, const std::string& name);
/// Refuses a name that is taken; the old one stays taken.
void rename_loop(Application& a, LoopId loop, const std::string& name);
/// Puts the stage's loops in another order. Refuses what changes the order of an update.
void reorder_loops(Application& a, const std::vector<LoopId>& order);
/// What the iterations of the loop are. Refuses a second binding.
void bind_loop(Application& a, LoopId loop, ir::Binding binding, int axis = 0);
/// Refuses tails that mask one side alone where the loop that they end is not a loop any more.
void check_tails(State& state);
/// Refuses a present loop whose number of iterations is not a constant of at most `most`.
void require_constant_extent(const Application& a, const std::string& loop, std::int64_t most);

/// The positions in StageSchedule::dims that the loop's values come from.
std::vector<int> roots(const State& state, FuncId func, int stage, LoopId loop);
std::vector<int> roots(const StageSchedule& stage, LoopId loop);
/// The number of iterations where it is a constant.
std::optional<std::int64_t> constant_extent(const Scheduled& scheduled, FuncId func, int stage, LoopId loop);
std::optional<std::int64_t> constant_extent(const State& state, FuncId func, int stage, LoopId loop);
/// "FUNC.LOOP" of each reduction dimension the loop comes from, added to numerics where the Func is a float.
void note_reassociation(State& state, FuncId func, int stage, LoopId loop);

}  // namespace calotype::schedule
