// Promises: a size of an output that the schedule bounds is that constant everywhere, and the plan checks it.
// Another Func ranges over what was promised of it, which may be more than is needed.
//
// Requires: a placed tree. Leaves: the graph with constants for promised sizes; LoopTree::promises and
// promised_sizes, which keep the names for the check. Called by bounds inference before it looks at any size.

#include <fmt/format.h>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

class Promises {
 public:
  explicit Promises(LoopTree& tree) : tree_(tree) {}

  void run() {
    for (const lang::OutputDef& output : graph().outputs)
      for (const schedule::BoundPromise& p : tree_.scheduled.of(output.func).bounds) apply(output, p);
    if (!constants_.empty()) substitute_sizes();
  }

 private:
  lang::Graph& graph() { return tree_.scheduled.graph; }

  void apply(const lang::OutputDef& output, const schedule::BoundPromise& p) {
    const Expr extent = output.extents[p.dim], min = output.mins[p.dim];
    Expr kept = extent == ir::index(p.extent);
    if (p.min) kept = kept && min == ir::index(*p.min);
    kept = ir::simplify(kept);
    const std::string from = p.min ? fmt::format(" from {}", *p.min) : "";
    if (!ir::is_one(kept))
      tree_.promises.push_back(
          {kept,
           fmt::format("the schedule's {} fits only an extent of {}{}, not {{}} from {{}}", p.origin,
                       p.extent, from),
           tree_.func(output.func).name,
           {extent, min},
           fmt::format("an extent of {}{}, or a schedule without that bound", p.extent, from)});
    replace(extent, p.extent, {{}, output.func, p.dim, false});
    if (p.min) replace(min, *p.min, {{}, output.func, p.dim, true});
  }

  void replace(const Expr& size, std::int64_t value, LoopTree::PromisedSize promised) {
    if (!ir::is(size, ir::Op::Variable)) return;
    promised.symbol = ir::symbol_of(size);
    constants_.emplace_back(promised.symbol, ir::index(value));
    tree_.promised_sizes.push_back(std::move(promised));
  }

  void substitute_sizes() {
    auto apply = [&](Expr& e) {
      if (e.defined()) e = ir::simplify(ir::substitute(e, constants_));
    };
    for (lang::InputDef& input : graph().inputs)
      for (Expr& e : input.extents) apply(e);
    for (lang::OutputDef& output : graph().outputs) {
      for (Expr& e : output.extents) apply(e);
      for (Expr& e : output.mins) apply(e);
    }
    for (lang::FuncDef& func : graph().funcs)
      for (lang::StageDef& stage : func.stages) {
        for (Expr& e : stage.lhs) e = ir::substitute(e, constants_);
        stage.value = ir::substitute(stage.value, constants_);
        if (stage.predicate.defined()) stage.predicate = ir::substitute(stage.predicate, constants_);
        for (lang::ReductionDim& r : stage.reduction) {
          apply(r.min);
          apply(r.extent);
        }
      }
  }

  LoopTree& tree_;
  ir::Substitution constants_;
};

}  // namespace

void apply_promises(LoopTree& tree) { Promises(tree).run(); }

void keep_promises(LoopTree& tree, FuncId id, std::vector<Box>& needs) {
  const lang::FuncDef& func = tree.func(id);
  for (const schedule::BoundPromise& p : tree.scheduled.of(id).bounds) {
    const ir::Interval all = needs[0][p.dim];
    const Expr min = p.min ? ir::index(*p.min) : all.min;
    const ir::Interval promised{min, ir::simplify(min + ir::index(p.extent - 1), tree.facts)};
    const Expr holds = ir::simplify(all.min >= promised.min && all.max <= promised.max, tree.facts);
    if (depends_on_loops(tree, holds) && !ir::prove(holds, tree.facts))
      throw Error({.kind = ErrorKind::Schedule,
                   .message = fmt::format(
                       "'{}' is bounded to {} in '{}', and what its place needs may lie outside", func.name,
                       p.min ? fmt::format("{} to {}", *p.min, *p.min + p.extent - 1)
                             : fmt::format("{} coordinates", p.extent),
                       func.args[p.dim]->name),
                   .func = func.name,
                   .directive = p.origin,
                   .value = p.min ? fmt::format("{} from {}", p.extent, *p.min) : std::to_string(p.extent),
                   .legal = fmt::format("a bound that holds what is needed: {} to {}", ir::to_string(all.min),
                                        ir::to_string(all.max))});
    require(tree, {holds,
                   fmt::format("the schedule's {} does not hold what is needed, {{}} to {{}}", p.origin),
                   func.name,
                   {all.min, all.max},
                   "sizes for which it does, or a larger bound"});
    for (Box& need : needs) need[p.dim] = promised;
  }
}

}  // namespace calotype::lower
