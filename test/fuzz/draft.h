#pragma once
// A schedule while it is drawn: the directives so far, what they have made of the algorithm, and the Func and
// stage that the next one is to address.

#include <memory>
#include <string>
#include <vector>

#include "fuzz/program.h"
#include "fuzz/random.h"
#include "schedule/state.h"

namespace calotype::fuzz {

/// Directives applied without the defaults, which come only after the last.
struct Applied {
  Applied(const lang::Graph& graph, Schedule directives, const Target& target);
  Schedule schedule;
  schedule::State state;
};

class Draft {
 public:
  Draft(Random& random, const Program& program, const Pipeline& pipeline, const Target& target);

  Random& random;
  const Program& program;
  const Target target;
  schedule::FuncId func;  ///< addressed next
  int stage = 0;

  const schedule::State& state() const { return applied_->state; }
  const Schedule& schedule() const { return applied_->schedule; }
  const lang::FuncDef& func_def() const { return state().def(func); }

  /// Records what `directive(Schedule&)` adds; taken back if it is refused as it stands.
  template <class F>
  bool record(F directive) {
    Schedule next = schedule();
    directive(next);
    return accept(std::move(next));
  }
  /// The same for the stage addressed: `directive(Stage&)`.
  template <class F>
  bool record_stage(F directive) {
    return record([&](Schedule& s) {
      Stage handle = s[func_def().name];
      if (stage > 0) handle = handle.update(stage - 1);
      directive(handle);
    });
  }

  /// Goes on from another list of directives.
  void restart(calotype::Schedule directives);

  /// Loops of the stage that are bound to nothing, innermost first.
  std::vector<std::string> free_loops(bool pure_only = false) const;
  /// A name that no loop has.
  std::string fresh(const std::string& stem);
  /// Iterations; now and then a knob of the schedule.
  Factor factor(std::int64_t most);
  Tail tail();

 private:
  bool accept(Schedule next);

  const lang::Graph& graph_;
  std::unique_ptr<Applied> applied_;
  std::vector<Knob> knobs_;
  int names_ = 0;
};

}  // namespace calotype::fuzz
