// Inlining: uses of Funcs that are computed inline become their definitions.
//
// Requires: a Scheduled whose inlined Funcs have one stage. Leaves: no Call to an inlined Func in any stage.
// Stands first, so that bounds, loops and instructions see the arithmetic that will run.

#include <unordered_map>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

class Inliner {
 public:
  explicit Inliner(Scheduled& scheduled) : scheduled_(scheduled) {}

  void run() {
    for (FuncId id : scheduled_.order)
      for (lang::StageDef& stage : scheduled_.graph.funcs[id.value].stages) rewrite_stage(stage);
  }

 private:
  void rewrite_stage(lang::StageDef& stage) {
    for (Expr& e : stage.lhs) e = expand(e);
    for (lang::ReductionDim& r : stage.reduction) {
      r.min = expand(r.min);
      r.extent = expand(r.extent);
    }
    stage.value = expand(stage.value);
    if (stage.predicate.defined()) stage.predicate = expand(stage.predicate);
    if (stage.reduce_term.defined()) stage.reduce_term = expand(stage.reduce_term);
  }

  Expr expand(const Expr& e) {
    return ir::rewrite(e, [&](const Expr& node) { return is_inlined_call(node) ? inlined(node) : node; });
  }

  bool is_inlined_call(const Expr& e) const {
    if (!ir::is(e, ir::Op::Call)) return false;
    const ir::Callee& callee = *ir::callee_of(e);
    return callee.kind == ir::CalleeKind::Func &&
           scheduled_.of(FuncId{callee.index}).compute.kind == schedule::Place::Kind::Inline;
  }

  // Equal uses become one shared expression, so that later passes see it once.
  Expr inlined(const Expr& call) {
    auto& known = expanded_[call->hash];
    for (const auto& [key, value] : known)
      if (ir::equal(key, call)) return value;
    const lang::FuncDef& func = scheduled_.graph.func(FuncId{ir::callee_of(call)->index});
    ir::Substitution map;
    for (int i = 0; i < func.rank(); ++i) map.emplace_back(func.args[i], call->args[i]);
    Expr value = ir::substitute(func.stages[0].values()[ir::callee_of(call)->component], map);
    known.emplace_back(call, value);
    return value;
  }

  Scheduled& scheduled_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<Expr, Expr>>> expanded_;
};

}  // namespace

void inline_funcs(Scheduled& scheduled) { Inliner(scheduled).run(); }

}  // namespace calotype::lower
