// Symbolic bounds of sums, linear forms and products.
#include <algorithm>

#include "ir/interval_bounds.h"

namespace calotype::ir::algebra {

Interval Bounds::sum(const Expr& e) {
  const Type type = e->type;
  if (type == Int(64)) return of_linear(linear_of(e), type, 0);
  // In a type that wraps: the same in Int(64), if all values fit.
  const Type wide = Int(64);
  if (type == UInt(64)) return of_type(type);
  Interval r;
  const auto widened = [&](const Interval& i) {
    const auto w = [&](const Expr& x) {
      return x.defined() ? simplifier_.run(make(Op::Cast, wide, {x})) : Expr();
    };
    return Interval{w(i.min), w(i.max)};
  };
  const Interval a = widened(of(e->args[0]));
  const Interval b = e->args.size() > 1 ? widened(of(e->args[1])) : Interval{};
  if (e->op == Op::Add) r = {ends(Op::Add, a.min, b.min), ends(Op::Add, a.max, b.max)};
  if (e->op == Op::Sub) r = {ends(Op::Sub, a.min, b.max), ends(Op::Sub, a.max, b.min)};
  if (e->op == Op::Neg) r = {ends(Op::Sub, index(0), a.max), ends(Op::Sub, index(0), a.min)};
  if (e->op == Op::Mul) r = multiplied(a, b, wide);
  if (!r.bounded()) return of_type(type);
  Analysis& analysis = simplifier_.analysis();
  const Range all{type.min_int(), type.max_int()};
  const Range low = analysis.bounds(analysis.view(r.min)), high = analysis.bounds(analysis.view(r.max));
  if (low.lo < all.lo || high.hi > all.hi || low.hi > all.hi || high.lo < all.lo) return of_type(type);
  const auto narrowed = [&](const Expr& x) { return simplifier_.run(make(Op::Cast, type, {x})); };
  return {narrowed(r.min), narrowed(r.max)};
}

/// Each atom of a linear form on its own; those that share symbols with a minimum or maximum move into it
/// first.
Interval Bounds::of_linear(const Linear& l, Type type, int depth) {
  if (auto d = distributed(l, type, depth)) return *d;
  if (auto d = divided_together(l, type, depth)) return *d;
  if (auto d = without_remainder(l, type, depth)) return *d;
  Linear fixed = Linear::of_constant(l.constant);
  std::vector<Term> moving;
  for (const Term& t : l.terms) (in_scope(t.atom) ? moving : fixed.terms).push_back(t);
  Interval r = Interval::point(to_expr(fixed, type));
  for (const Term& t : moving) {
    Interval a = is(t.atom, Op::Mul) ? of_product(t.atom) : of(t.atom);
    a = scaled_by(a, make_int(type, t.coefficient), type);
    r = {ends(Op::Add, r.min, a.min), ends(Op::Add, r.max, a.max)};
  }
  return r;
}

std::optional<Interval> Bounds::distributed(const Linear& l, Type type, int depth) {
  if (depth >= kMaxDistribution) return std::nullopt;
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Term& t = l.terms[i];
    if ((!is(t.atom, Op::Min) && !is(t.atom, Op::Max)) || !in_scope(t.atom)) continue;
    const Linear rest = without(l, i);
    if (std::none_of(rest.terms.begin(), rest.terms.end(),
                     [&](const Term& u) { return shares_symbols(t.atom, u.atom); }))
      continue;
    const Interval a = of_linear(add(rest, linear_of(t.atom->args[0]), t.coefficient), type, depth + 1);
    const Interval b = of_linear(add(rest, linear_of(t.atom->args[1]), t.coefficient), type, depth + 1);
    const Op op = (t.coefficient > 0) == is(t.atom, Op::Min) ? Op::Min : Op::Max;
    Interval r{ends(op, a.min, b.min), ends(op, a.max, b.max)};
    if (op == Op::Min && !r.max.defined()) r.max = a.max.defined() ? a.max : b.max;
    if (op == Op::Max && !r.min.defined()) r.min = a.min.defined() ? a.min : b.min;
    return r;
  }
  return std::nullopt;
}

bool Bounds::shares_symbols(const Expr& a, const Expr& b) {
  return in_scope(b) && any_of(a, [&](const Expr& s) {
           return is(s, Op::Variable) && in_scope(s) && uses(b, symbol_of(s));
         });
}

/// x + min(y - c*x, z)/c is (c*x + min(y - c*x, z))/c: terms that share symbols with a minimum or maximum in
/// a quotient move into it, where they cancel.
std::optional<Interval> Bounds::divided_together(const Linear& l, Type type, int depth) {
  if (depth >= kMaxDistribution || type != Int(64)) return std::nullopt;
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Term& t = l.terms[i];
    const auto by = is(t.atom, Op::Div) ? as_int(t.atom->args[1]) : std::nullopt;
    const auto bends = [](const Expr& n) { return is(n, Op::Min) || is(n, Op::Max); };
    if (!by || *by <= 0 || !in_scope(t.atom) || !any_of(t.atom->args[0], bends)) continue;
    Linear numerator = linear_of(t.atom->args[0]), rest = Linear::of_constant(l.constant);
    bool moved = false;
    for (std::size_t j = 0; j < l.terms.size(); ++j) {
      const Term& u = l.terms[j];
      std::int64_t factor = 0;
      if (j == i) continue;
      if (shares_symbols(t.atom, u.atom) && u.coefficient % t.coefficient == 0 &&
          !mul_overflows(u.coefficient / t.coefficient, *by, factor)) {
        numerator = add(numerator, Linear::of_atom(u.atom), factor);
        moved = true;
      } else {
        rest.terms.push_back(u);
      }
    }
    if (!moved || numerator.overflow) continue;
    const Interval divisor = Interval::point(t.atom->args[1]);
    const Interval a = scaled_by(divided(of_linear(numerator, type, depth + 1), divisor, type),
                                 make_int(type, t.coefficient), type);
    const Interval b = of_linear(rest, type, depth + 1);
    return Interval{ends(Op::Add, a.min, b.min), ends(Op::Add, a.max, b.max)};
  }
  return std::nullopt;
}

/// x + c*((y - x)/c) is y less a remainder of c: where all that moves in a quotient cancels so.
std::optional<Interval> Bounds::without_remainder(const Linear& l, Type type, int depth) {
  if (depth >= kMaxDistribution || type != Int(64)) return std::nullopt;
  const auto moves = [&](const Term& t) { return in_scope(t.atom); };
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Term& t = l.terms[i];
    const auto by = is(t.atom, Op::Div) ? as_int(t.atom->args[1]) : std::nullopt;
    if (!by || *by <= 0 || t.coefficient % *by != 0 || !moves(t)) continue;
    const Linear whole = add(without(l, i), linear_of(t.atom->args[0]), t.coefficient / *by);
    const auto left = std::count_if(whole.terms.begin(), whole.terms.end(), moves);
    std::int64_t most = 0;
    if (whole.overflow || left + 1 >= std::count_if(l.terms.begin(), l.terms.end(), moves) ||
        mul_overflows(t.coefficient / *by, *by - 1, most))
      continue;
    const Interval r = of_linear(whole, type, depth + 1);
    const Expr low = make_int(type, -std::max<std::int64_t>(most, 0)),
               high = make_int(type, -std::min<std::int64_t>(most, 0));
    return Interval{ends(Op::Add, r.min, low), ends(Op::Add, r.max, high)};
  }
  return std::nullopt;
}

Interval Bounds::scaled_by(const Interval& a, const Expr& factor, Type type) {
  const auto times = [&](const Expr& x) { return x.defined() ? node(Op::Mul, x, factor) : Expr(); };
  if (is_zero(factor)) return Interval::point(make_zero(type));
  if (nonnegative(factor)) return {times(a.min), times(a.max)};
  if (nonpositive(factor)) return {times(a.max), times(a.min)};
  const Expr x = times(a.min), y = times(a.max);
  return {ends(Op::Min, x, y), ends(Op::Max, x, y)};
}

Interval Bounds::multiplied(const Interval& a, const Interval& b, Type type) {
  if (b.is_point()) return scaled_by(a, b.min, type);
  if (a.is_point()) return scaled_by(b, a.min, type);
  if (nonnegative(a.min) && nonnegative(b.min))
    return {node(Op::Mul, a.min, b.min), ends(Op::Mul, a.max, b.max)};
  if (!a.bounded() || !b.bounded()) return {};
  const Interval low = scaled_by(a, b.min, type), high = scaled_by(a, b.max, type);
  return {node(Op::Min, low.min, high.min), node(Op::Max, low.max, high.max)};
}

Interval Bounds::of_product(const Expr& atom) {
  const std::vector<Expr> factors = factors_of(atom);
  std::vector<Expr> fixed;
  Interval r;
  bool first = true;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (!in_scope(factors[i])) {
      fixed.push_back(factors[i]);
      continue;
    }
    const Interval f = of(factors[i]);
    const bool square = i + 1 < factors.size() && equal(factors[i], factors[i + 1]);
    r = first ? f : multiplied(r, f, atom->type);
    if (square) {
      Interval s = multiplied(f, f, atom->type);
      if (!nonnegative(s.min)) s.min = make_zero(atom->type);
      r = first ? s : multiplied(multiplied(r, f, atom->type), f, atom->type);
      ++i;
    }
    first = false;
  }
  return fixed.empty() ? r : scaled_by(r, product_of(fixed, atom->type), atom->type);
}

}  // namespace calotype::ir::algebra
