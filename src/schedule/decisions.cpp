// What conditions that are decided say.
#include "schedule/decisions.h"

#include <algorithm>

#include "ir/questions.h"
#include "schedule/sizes.h"

namespace calotype::schedule {

namespace {

/// Rewrites definitions under what the decisions say.
class Simplifier {
 public:
  explicit Simplifier(const std::vector<Decision>& decisions) {
    for (const Decision& d : decisions)
      for (const Expr& part : parts_of(d)) {
        ir::learn(facts_, part);
        known_.push_back(ir::simplify(part));
        const auto v = ir::values_left(part);
        if (v && v->symbol->kind == ir::SymbolKind::Param && v->exact())
          constants_.emplace_back(v->symbol, ir::make_int(v->symbol->type, *v->exact()));
      }
  }

  void change(Expr& e) const {
    if (!e.defined()) return;
    e = ir::rewrite(e, [&](const Expr& n) { return simpler(n); });
  }

  /// The value of a reduction stays one: its operation is what lanes and threads rely on.
  void change_operands(Expr& e) const {
    e = ir::map_args(e, [&](Expr operand) {
      change(operand);
      return operand;
    });
  }

 private:
  Expr simpler(const Expr& n) const {
    if (ir::is(n, ir::Op::Variable) && !n.type().is_bool()) return ir::substitute(n, constants_);
    if (n.type().is_bool() && n.type().is_scalar() && !ir::is_const(n) &&
        !ir::any_of(n, ir::varies_in_a_call))
      return decided(n);
    switch (n->op) {
      case ir::Op::Select:
        return ir::is_const(n->args[0]) ? n->args[ir::is_one(n->args[0]) ? 1 : 2] : n;
      case ir::Op::Likely:
        return ir::is_const(n->args[0]) ? n->args[0] : n;
      case ir::Op::And:
      case ir::Op::Or:
      case ir::Op::Not:
        return std::any_of(n->args.begin(), n->args.end(), [](const Expr& a) { return ir::is_const(a); })
                   ? ir::simplify(n)
                   : n;
      default:
        return n;
    }
  }

  Expr decided(const Expr& n) const {
    const Expr plain = ir::simplify(n), opposite = ir::simplify(!n);
    for (const Expr& k : known_) {
      if (ir::equal(plain, k)) return ir::make_one(Bool());
      if (ir::equal(opposite, k)) return ir::make_zero(Bool());
    }
    if (ir::prove(plain, facts_)) return ir::make_one(Bool());
    if (ir::prove(opposite, facts_)) return ir::make_zero(Bool());
    return n;
  }

  ir::Facts facts_;
  std::vector<Expr> known_;
  ir::Substitution constants_;
};

}  // namespace

std::vector<Expr> parts_of(const Decision& d) { return ir::parts_of(d.holds ? d.condition : !d.condition); }

void assume_decided(State& state) {
  for (const Decision& d : state.out.decisions)
    for (const Expr& part : parts_of(d)) {
      const auto v = ir::values_left(part);
      if (!v || v->symbol->kind != ir::SymbolKind::Dim) continue;
      // What other assumptions leave no value for is a way that no call takes.
      assume_size(state.out, v->symbol,
                  {.size = v->symbol->name,
                   .low = std::max<std::int64_t>(v->low.value_or(0), 0),
                   .high = v->high,
                   .multiple = v->multiple},
                  d.origin, 0);
    }
}

void simplify_decided(State& state) {
  if (state.out.decisions.empty()) return;
  const Simplifier simplifier(state.out.decisions);
  for (lang::FuncDef& f : state.out.graph.funcs)
    for (lang::StageDef& s : f.stages) {
      for (Expr& e : s.lhs) simplifier.change(e);
      if (s.reduce_op)
        simplifier.change_operands(s.value);
      else
        simplifier.change(s.value);
      simplifier.change(s.predicate);
      simplifier.change(s.reduce_term);
      for (lang::ReductionDim& r : s.reduction) {
        simplifier.change(r.min);
        simplifier.change(r.extent);
      }
    }
}

}  // namespace calotype::schedule
