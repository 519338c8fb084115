#pragma once
// What is known while a schedule is applied: the Scheduled under construction, and beside it what only the
// application itself needs (which directive did what, loops that are gone, references still open).

#include <string>
#include <vector>

#include "schedule/directive.h"
#include "schedule/scheduled.h"

namespace calotype::schedule {

/// A diagnostic and the position of the directive that caused it (-1: none).
struct Refusal {
  Diagnostic diagnostic;
  int directive = -1;
};

/// `compute_at`, `store_at` or `hoist_storage` before its loop has been looked up.
struct LoopReference {
  FuncId func;
  Place FuncSchedule::* place = nullptr;  ///< which place is meant
  std::string stage, loop;
  int directive = -1;
};

/// `compute_with` before its loop has been looked up.
struct SharedReference {
  FuncId func;
  int stage = 0;
  std::string of, loop;
  int directive = -1;
};

struct StageState {
  std::vector<LoopId> ever;         ///< every loop the stage had, in order of making
  std::vector<std::string> unmade;  ///< loops that a refused directive would have made
  bool directed = false;            ///< a loop directive addressed the stage
  bool referred = false;            ///< another Func is computed or stored at one of its loops
};

struct FuncState {
  int compute_directive = -1, store_directive = -1, hoist_directive = -1, memory_directive = -1;
  int first_directive = -1;
  bool made = false;          ///< by `in` or `rfactor`
  bool copies_input = false;  ///< made by `in` of an input
  std::vector<StageState> stages;
};

struct State {
  State(const lang::Graph& graph, const Schedule& schedule, const Target& target);

  const lang::Graph& original;
  const Schedule& schedule;
  Scheduled out;
  std::vector<FuncState> funcs;      ///< by FuncId
  std::vector<int> loop_directives;  ///< by LoopId: the directive that made or bound it last, -1 for none
  std::vector<LoopReference> references;
  std::vector<SharedReference> shared_references;
  std::vector<Refusal> refusals;
  std::vector<std::string> unmade_funcs;  ///< Funcs that a refused directive would have made

  const lang::FuncDef& def(FuncId id) const { return out.graph.func(id); }
  const lang::StageDef& def(FuncId id, int stage) const { return def(id).stages[stage]; }
  StageSchedule& loops_of(FuncId id, int stage) { return out.funcs[id.value].stages[stage]; }
  const StageSchedule& loops_of(FuncId id, int stage) const { return out.funcs[id.value].stages[stage]; }
  StageState& stage(FuncId id, int stage) { return funcs[id.value].stages[stage]; }
  const Loop& loop(LoopId id) const { return out.loop(id); }

  /// Adds a Func to the graph (its id and callee are set here) with the loops of its definitions.
  FuncId add_func(lang::FuncDef func);
  /// A loop that is not yet in any list.
  LoopId add_loop(FuncId func, int stage, Loop loop, int directive);
  /// Replaces the loops of a stage by those of its definition.
  void define_loops(FuncId func, int stage);

  std::string stage_name(FuncId func, int stage) const { return lang::stage_name(def(func), stage); }
  std::string directive_text(int directive) const;
  /// The Func (or input) that a directive addresses by its text, whether it is there or not.
  static std::string func_named(const Directive& directive);
  /// Names of the present loops, innermost first.
  std::vector<std::string> loop_names(FuncId func, int stage) const;
  /// "loops of acc.update(0): k, n, m".
  std::string loops_text(FuncId func, int stage) const;
  /// Every text that names a stage.
  std::vector<std::string> stage_names() const;

  void refuse(FuncId func, int stage, int directive, std::string message, std::string value = {},
              std::string legal = {});
};

/// Thrown inside an apply function; the driver records it and goes on with the next directive.
struct Refused {
  Refusal refusal;
};
/// Thrown where the reason is an earlier refusal, which has been reported already.
struct Skipped {};

/// One directive being applied: its arguments by name, and how it refuses.
class Application {
 public:
  Application(State& state, const Directive& directive, const DirectiveSpec& spec, int index);
  /// What the defaults do to a stage: an edit that no directive asked for.
  Application(State& state, FuncId func, int stage);

  State& state;
  const Directive& directive;
  const DirectiveSpec& spec;
  const int index;
  FuncId func;    ///< invalid for directives that address the graph
  int stage = 0;  ///< -1 for directives that address the Func

  const lang::FuncDef& func_def() const { return state.def(func); }
  const lang::StageDef& stage_def() const { return state.def(func, stage); }
  StageSchedule& loops() { return state.loops_of(func, stage); }
  std::string origin() const { return index < 0 ? "default" : state.directive_text(index); }

  bool has(const std::string& arg) const { return find_arg(directive, arg) != nullptr; }
  std::int64_t integer(const std::string& arg) const;
  std::vector<std::int64_t> integers(const std::string& arg) const;
  const std::string& name(const std::string& arg) const;
  std::vector<std::string> names(const std::string& arg) const;
  Tail tail() const;
  Memory memory(const std::string& arg) const;
  ir::Partition partition(const std::string& arg) const;
  Copy copy(const std::string& arg) const;
  /// The place of a Choice in its list.
  int choice(const std::string& arg) const;
  /// Present loops of the stage.
  LoopId loop(const std::string& arg) const;
  std::vector<LoopId> loop_list(const std::string& arg) const;
  LoopId find_loop(const std::string& name) const;

  [[noreturn]] void refuse(std::string message, std::string value = {}, std::string legal = {}) const;

 private:
  void resolve_stage();
};

}  // namespace calotype::schedule
