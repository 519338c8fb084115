#pragma once
// The walk that finds symbolic bounds of an expression: interval.cpp has most operations, interval_linear.cpp
// sums and products.

#include "ir/simplify_rules.h"

namespace calotype::ir::algebra {

constexpr int kMaxRefinements = 4;  ///< nested selects whose condition narrows the scope
constexpr int kMaxDistribution = 4;

class Bounds {
 public:
  Bounds(Simplifier& simplifier, const Scope& scope) : simplifier_(simplifier), scope_(scope) {}

  Interval of(const Expr& e) {
    if (!in_scope(e)) return Interval::point(e);
    if (auto it = memo_.find(e); it != memo_.end()) return it->second;
    Interval i = completed(e, compute(e));
    for (Expr* end : {&i.min, &i.max})
      if (end->defined()) *end = simplifier_.run(*end);
    memo_.emplace(e, i);
    return i;
  }

 private:
  bool in_scope(const Expr& e) {
    if (is_const(e)) return false;
    if (e->op == Op::Variable) return scope_.count(symbol_of(e)) != 0;
    if (info(e->op).group == OpGroup::memory) return true;  // an element may be anything
    if (auto it = in_scope_.find(e); it != in_scope_.end()) return it->second;
    const bool found =
        std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return in_scope(a); });
    in_scope_.emplace(e, found);
    return found;
  }

  Interval compute(const Expr& e);
  Interval completed(const Expr& e, Interval i);
  Interval arithmetic(const Expr& e);
  Interval sum(const Expr& e);
  Interval of_linear(const Linear& l, Type type, int depth);
  std::optional<Interval> distributed(const Linear& l, Type type, int depth);
  std::optional<Interval> divided_together(const Linear& l, Type type, int depth);
  std::optional<Interval> without_remainder(const Linear& l, Type type, int depth);
  bool shares_symbols(const Expr& a, const Expr& b);
  Interval of_product(const Expr& atom);
  Interval divided(const Interval& p, const Interval& d, Type type);
  Interval modulo(const Expr& e, const Interval& p, const Interval& d);
  Interval selected(const Expr& e);
  Interval arm(const Expr& value, const Expr& condition, bool holds);
  Interval cast(const Expr& e);
  Interval common_bits(const Expr& e);
  Interval any_bits(const Expr& e);
  Interval floats(const Expr& e);
  Interval let(const Expr& e);
  Interval ramp(const Expr& e);

  Interval of_type(Type t) const;
  Interval scaled_by(const Interval& a, const Expr& factor, Type type);
  Interval multiplied(const Interval& a, const Interval& b, Type type);

  Expr node(Op op, const Expr& a, const Expr& b) { return simplifier_.run(make(op, a->type, {a, b})); }
  /// The operation on two ends; undefined if one of them is.
  Expr ends(Op op, const Expr& a, const Expr& b) {
    return a.defined() && b.defined() ? node(op, a, b) : Expr();
  }
  bool nonnegative(const Expr& e) {
    return e.defined() && simplifier_.analysis().nonnegative(simplifier_.analysis().view(e));
  }
  bool positive(const Expr& e) {
    return e.defined() && simplifier_.analysis().positive(simplifier_.analysis().view(e));
  }
  bool nonpositive(const Expr& e) {
    return e.defined() &&
           simplifier_.analysis().nonnegative(algebra::scaled(simplifier_.analysis().view(e), -1));
  }

  Simplifier& simplifier_;
  const Scope& scope_;
  ExprMap<Interval> memo_;
  ExprMap<bool> in_scope_;
  int refinements_ = 0;
};

}  // namespace calotype::ir::algebra
