// Inlining: uses of Funcs that are computed inline become their definitions.
//
// Requires: a Scheduled whose inlined Funcs have one stage. Leaves: no Call to an inlined Func in any stage.
// Stands first, so that bounds, loops and instructions see the arithmetic that will run. Equal expressions
// are one node: of n Funcs that each read two neighbours of the one before there are as many as points that
// are read, not two to the n. Where there are more than kMostOperations all the same the schedule is refused.

#include <fmt/format.h>

#include <unordered_map>

#include "ir/shared_nodes.h"
#include "ir/simplify.h"
#include "lower/passes.h"

namespace calotype::lower {
namespace {

constexpr std::size_t kMostOperations = 100000;  // of a definition, distinct ones

class Inliner {
 public:
  explicit Inliner(Scheduled& scheduled) : scheduled_(scheduled), algebra_(facts_) {}

  void run() {
    for (FuncId id : scheduled_.order) {
      lang::FuncDef& func = scheduled_.graph.funcs[id.value];
      for (std::size_t s = 0; s < func.stages.size(); ++s) {
        changed_ = false;
        inlining_.clear();
        rewrite_stage(func.stages[s]);
        if (changed_) check_size(func, static_cast<int>(s));
      }
    }
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

  void check_size(const lang::FuncDef& func, int stage) const {
    const std::size_t count = ir::distinct_operations(func.stages[stage].value);
    if (count <= kMostOperations) return;
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format("with what is inlined into it, '{}' has {} operations",
                                        lang::stage_name(func, stage), count),
                 .func = func.name,
                 .stage = lang::stage_name(func, stage),
                 .directive = inlining_,
                 .value = std::to_string(count),
                 .legal = fmt::format("at most {}: compute_root, or compute_at, of a Func that it is made of",
                                      kMostOperations)});
  }

  Expr expand(const Expr& e) {
    bool any = false;
    const Expr result = ir::rewrite(e, [&](const Expr& node) {
      if (!is_inlined_call(node)) return node;
      any = true;
      const std::string& origin = scheduled_.of(FuncId{ir::callee_of(node)->index}).compute_origin;
      if (inlining_.empty() || origin != "default") inlining_ = origin;
      return inlined(node);
    });
    changed_ |= any;
    return any ? nodes_(result) : e;
  }

  bool is_inlined_call(const Expr& e) const {
    if (!ir::is(e, ir::Op::Call)) return false;
    const ir::Callee& callee = *ir::callee_of(e);
    return callee.kind == ir::CalleeKind::Func &&
           scheduled_.of(FuncId{callee.index}).compute.kind == schedule::Place::Kind::Inline;
  }

  /// Coordinates that are sums of others get one form, by which the same point is known again.
  Expr plain(const Expr& coordinate) {
    const bool reads = ir::any_of(coordinate, [](const Expr& n) { return ir::is(n, ir::Op::Call); });
    return reads || coordinate->type != Int(64) ? coordinate : algebra_.simplify(coordinate);
  }

  Expr inlined(const Expr& use) {
    const Expr call = ir::map_args(use, [this](const Expr& arg) { return plain(arg); });
    auto& known = expanded_[call->hash];
    for (const auto& [key, value] : known)
      if (ir::equal(key, call)) return value;
    const lang::FuncDef& func = scheduled_.graph.func(FuncId{ir::callee_of(call)->index});
    ir::Substitution map;
    for (int i = 0; i < func.rank(); ++i) map.emplace_back(func.args[i], call->args[i]);
    Expr value = nodes_(ir::substitute(func.stages[0].values()[ir::callee_of(call)->component], map));
    known.emplace_back(call, value);
    return value;
  }

  Scheduled& scheduled_;
  ir::Facts facts_;
  ir::Algebra algebra_;
  ir::SharedNodes nodes_;
  bool changed_ = false;  ///< something was inlined into the stage at hand
  std::string inlining_;  ///< by this, of several the last
  std::unordered_map<std::uint64_t, std::vector<std::pair<Expr, Expr>>> expanded_;
};

}  // namespace

void inline_funcs(Scheduled& scheduled) { Inliner(scheduled).run(); }

}  // namespace calotype::lower
