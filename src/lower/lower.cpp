// The table of contents of lowering: one line a pass, in order. The driver around them times, prints and (in
// debug builds) checks each; the passes do only their work.

#include "lower/lower.h"

#include <chrono>

#include "lower/invariants.h"
#include "schedule/unread.h"

namespace calotype::lower {
namespace {

/// Runs passes one after the other, recording what `Trace` asks for.
class PassDriver {
 public:
  explicit PassDriver(Trace* trace) : trace_(trace) {}

  template <class F>
  void operator()(const char* pass, F&& run) {
    const auto start = std::chrono::steady_clock::now();
    run();
    if (trace_)
      trace_->seconds.emplace_back(
          pass, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }

  template <class T>
  void level(const char* name, const T& value) {
    if (trace_ && trace_->keep_text) trace_->levels.emplace_back(name, text(value));
  }

 private:
  static std::string text(const Scheduled& s) { return schedule::to_string(s); }
  static std::string text(const LoopTree& t) { return to_string(t); }
  static std::string text(const std::vector<Unit>& units) {
    std::string all;
    for (const Unit& u : units) all += u.name + ":\n" + ir::to_string(u.stmt) + "\n";
    return all;
  }
  static std::string text(const Program& p) {
    std::string all;
    for (const Function& f : p.functions) all += to_string(f) + "\n";
    return all;
  }

  Trace* trace_;
};

template <class F>
void each(std::vector<Unit>& units, F&& f) {
  for (Unit& unit : units) unit.stmt = f(unit.stmt);
}

}  // namespace

Program lower(Scheduled scheduled, const Options& options, Trace* trace) {
  PassDriver pass(trace);
  LoopTree tree;
  std::vector<Unit> units;
  Program program;

  // clang-format off
  pass.level("schedule", scheduled);
  pass("inline", [&] { inline_funcs(scheduled); });
  if (!options.stored_stages.empty()) pass("store stages", [&] { add_copies(scheduled, options); });
  pass("unread", [&] { schedule::leave_out_unread(scheduled); });
  pass("aliases", [&] { check_aliases(scheduled); });
  pass("place", [&] { tree = place(std::move(scheduled), options); check_placed(tree); });
  pass("bounds", [&] { infer_bounds(tree); declare_stored(tree, options); check_bounds(tree); });
  pass("keep", [&] { keep_values(tree); });
  pass("skip", [&] { find_unused(tree, options); });
  pass.level("bounds", tree);
  pass.level("loops", tree);
  pass("tiles", [&] { resolve_tiles(tree); check_tiles(tree); });
  pass.level("tiles", tree);
  pass("pipeline", [&] { schedule_pipeline(tree); check_pipeline(tree); });
  pass.level("pipeline", tree);
  pass("memory", [&] { assign_memory(tree); check_memory(tree); });
  pass.level("memory", tree);
  pass("sync", [&] { place_barriers(tree); });
  pass.level("sync", tree);
  pass("emit", [&] { units = emit(tree, options.profile); });
  pass("simplify", [&] { each(units, [&](const ir::Stmt& s) { return simplify_stmt(s, tree.facts); }); });
  pass("partition", [&] { each(units, [&](const ir::Stmt& s) { return simplify_stmt(partition_loops(s, tree.facts, options.target.is_gpu()), tree.facts); }); });
  pass("vectorize", [&] { each(units, [&](const ir::Stmt& s) { return vectorize_loops(s, with_loops(tree.facts, s)); }); });
  if (!options.target.is_gpu()) pass("groups", [&] { each(units, [&](const ir::Stmt& s) { return group_lanes(s, tree.facts); }); });
  pass("unroll", [&] { each(units, [&](const ir::Stmt& s) { return unroll_loops(s, with_loops(tree.facts, s)); }); });
  if (options.target.is_gpu()) pass("store last", [&] { each(units, store_last); });
  pass("clean up", [&] { each(units, [&](const ir::Stmt& s) { return simplify_stmt(s, tree.facts); }); });
  pass("copies", [&] { check_copies(tree, units); });
  if (options.profile) pass("measure", [&] { each(units, [&](const ir::Stmt& s) { return measure(s, tree); }); });
  pass("program", [&] { program = make_program(tree, units, options); check_program(program); });
  pass.level("lowered", program);
  // clang-format on
  if (trace && trace->keep_text) trace->levels.emplace_back("plan", plan_text(program));
  return program;
}

}  // namespace calotype::lower
