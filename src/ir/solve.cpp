// Conditions and expressions solved for one symbol.
#include <algorithm>

#include "ir/simplify_rules.h"

namespace calotype::ir {

namespace {

using namespace algebra;

const Interval kEverything{};
Interval nothing() { return {index(1), index(0)}; }

std::optional<Interval> both(const std::optional<Interval>& a, const std::optional<Interval>& b) {
  if (!a || !b) return std::nullopt;
  return interval_intersection(*a, *b);
}

class Solver {
 public:
  explicit Solver(const SymbolPtr& symbol) : symbol_(symbol), simplifier_(no_facts_) {}

  std::optional<Interval> solve(const Expr& given) {
    const Expr c = simplifier_.run(given);
    if (auto v = as_int(c)) return *v != 0 ? kEverything : nothing();
    if (!c->type.is_scalar()) return std::nullopt;
    switch (c->op) {
      case Op::And:
        return both(solve(c->args[0]), solve(c->args[1]));
      case Op::Likely:
        return solve(c->args[0]);
      case Op::Lt:
      case Op::Le: {
        auto d = difference(c, 1, 0);
        return d ? nonnegative(shifted(*d, c->op == Op::Lt ? -1 : 0)) : std::nullopt;
      }
      case Op::Eq: {
        auto above = difference(c, 1, 0), below = difference(c, 0, 1);
        return above && below ? both(nonnegative(*above), nonnegative(*below)) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }

 private:
  /// One operand of a comparison less the other, as far as they do not wrap.
  std::optional<Linear> difference(const Expr& c, std::size_t larger, std::size_t smaller) {
    if (symbol_->type != Int(64) || c->args[0]->type != Int(64)) return std::nullopt;
    return subtract(linear_of(c->args[larger]), linear_of(c->args[smaller]));
  }

  /// Where l >= 0 holds.
  std::optional<Interval> nonnegative(const Linear& l) {
    if (l.overflow) return std::nullopt;
    std::size_t at = l.terms.size();
    for (std::size_t i = 0; i < l.terms.size(); ++i) {
      if (!uses(l.terms[i].atom, symbol_)) continue;
      if (at != l.terms.size()) return apart(l);
      at = i;
    }
    if (at == l.terms.size())
      return l.is_constant() ? std::optional(l.constant >= 0 ? kEverything : nothing()) : std::nullopt;
    return isolated(l.terms[at], without(l, at), l);
  }

  /// coefficient * atom + rest >= 0 with only the atom using the symbol.
  std::optional<Interval> isolated(const Term& t, const Linear& rest, const Linear& whole) {
    const Expr& a = t.atom;
    if (is(a, Op::Likely)) return nonnegative(add(rest, linear_of(a->args[0]), t.coefficient));
    if (is(a, Op::Variable)) {
      // x >= ceil(-rest / c), or x <= floor(rest / -c)
      const std::int64_t c = t.coefficient;
      if (c == INT64_MIN) return std::nullopt;
      const Linear dividend = c > 0 ? shifted(scaled(rest, -1), c - 1) : rest;
      const Expr end =
          simplifier_.run(make(Op::Div, Int(64), {to_expr(dividend, Int(64)), index(std::abs(c))}));
      return c > 0 ? Interval{end, {}} : Interval{{}, end};
    }
    if (is(a, Op::Div)) {
      const auto d = as_int(a->args[1]);
      if (!d || *d <= 0 || t.coefficient == INT64_MIN) return std::nullopt;
      // With q = floor(rest / |c|): p / d >= -q means p >= -q * d; p / d <= q means p <= q * d + d - 1.
      const Expr q =
          simplifier_.run(make(Op::Div, Int(64), {to_expr(rest, Int(64)), index(std::abs(t.coefficient))}));
      const Linear bound = scaled(linear_of(q), *d), p = linear_of(a->args[0]);
      return nonnegative(t.coefficient > 0 ? add(p, bound) : shifted(subtract(bound, p), *d - 1));
    }
    return apart(whole);
  }

  /// A minimum with positive coefficient is not too small if neither operand is; likewise a maximum
  /// subtracted.
  std::optional<Interval> apart(const Linear& l) {
    for (std::size_t i = 0; i < l.terms.size(); ++i) {
      const Term& t = l.terms[i];
      if (!is(t.atom, t.coefficient > 0 ? Op::Min : Op::Max) || !uses(t.atom, symbol_)) continue;
      const auto with = [&](std::size_t arm) {
        return nonnegative(replaced(l, i, linear_of(t.atom->args[arm])));
      };
      return both(with(0), with(1));
    }
    return std::nullopt;
  }

  const SymbolPtr& symbol_;
  Facts no_facts_;
  Simplifier simplifier_;
};

}  // namespace

std::optional<LinearIn> linear_in(const Expr& e, const SymbolPtr& symbol) {
  if (e->type != symbol->type || !has_linear_form(e->type)) return std::nullopt;
  const Facts no_facts;
  Simplifier simplifier(no_facts);
  const Linear l = linear_of(simplifier.run(e));
  LinearIn r{0, {}};
  Linear rest = Linear::of_constant(l.constant);
  for (const Term& t : l.terms) {
    if (is(t.atom, Op::Variable) && symbol_of(t.atom) == symbol)
      r.coefficient = t.coefficient;
    else if (uses(t.atom, symbol))
      return std::nullopt;
    else
      rest.terms.push_back(t);
  }
  r.rest = to_expr(rest, e->type);
  return r;
}

std::optional<Interval> solve_for(const Expr& condition, const SymbolPtr& symbol) {
  return Solver(symbol).solve(condition);
}

}  // namespace calotype::ir
