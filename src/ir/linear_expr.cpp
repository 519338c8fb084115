// Linear forms written back as expressions, with few multiplications: positive terms first, then what is
// subtracted, then the constant; products by a common factor are gathered.
#include <algorithm>

#include "ir/linear.h"

namespace calotype::ir::algebra {

namespace {

bool contains(const Expr& atom, const Expr& f) {
  if (!is(atom, Op::Mul)) return equal(atom, f);
  return equal(atom->args[1], f) || contains(atom->args[0], f);
}

/// The factor that most terms share, if at least two do. Only Int(64) products are multiplied out again on
/// reading.
Expr shared_factor(const Linear& l, Type type) {
  if (type.bits != 64 || l.terms.size() < 2) return {};
  std::vector<Expr> candidates;
  for (const Term& t : l.terms) {
    if (!is(t.atom, Op::Mul)) continue;
    for (const Expr& f : factors_of(t.atom))
      if (std::none_of(candidates.begin(), candidates.end(), [&](const Expr& c) { return equal(c, f); }))
        candidates.push_back(f);
  }
  Expr best;
  std::ptrdiff_t most = 1;
  for (const Expr& c : candidates) {
    const std::ptrdiff_t uses =
        std::count_if(l.terms.begin(), l.terms.end(), [&](const Term& t) { return contains(t.atom, c); });
    if (uses > most) best = c, most = uses;
  }
  return best;
}

struct Piece {
  Expr value;
  std::int64_t coefficient;
};

/// The terms of `l` divided by `f`, which all of them contain.
Linear cofactor(const std::vector<Term>& terms, const Expr& f, Type type) {
  Linear q;
  for (const Term& t : terms) {
    auto rest = *remove_factors(factors_of(t.atom), {f});
    q = rest.empty() ? add(q, Linear::of_constant(t.coefficient))
                     : add(q, Linear::of_atom(product_of(rest, type), t.coefficient));
  }
  return q;
}

std::vector<Piece> pieces_of(Linear l, Type type) {
  std::vector<Piece> pieces;
  for (Expr f = shared_factor(l, type); f.defined(); f = shared_factor(l, type)) {
    std::vector<Term> group, others;
    for (Term& t : l.terms) (contains(t.atom, f) ? group : others).push_back(t);
    Linear q = cofactor(group, f, type);
    const bool negative = q.constant <= 0 && std::all_of(q.terms.begin(), q.terms.end(),
                                                         [](const Term& t) { return t.coefficient < 0; });
    Expr sum = to_expr(negative ? scaled(q, -1) : q, type);
    pieces.push_back({make(Op::Mul, type, {sum, f}), negative ? -1 : 1});
    l.terms = std::move(others);
  }
  std::vector<Piece> result;
  for (const Term& t : l.terms) result.push_back({t.atom, t.coefficient});
  result.insert(result.end(), pieces.begin(), pieces.end());
  return result;
}

Expr times(const Piece& p, std::int64_t coefficient, Type type) {
  return coefficient == 1 ? p.value : make(Op::Mul, type, {p.value, make_int(type, coefficient)});
}

}  // namespace

std::vector<Expr> factors_of(const Expr& atom) {
  std::vector<Expr> reversed;
  Expr e = atom;
  while (is(e, Op::Mul)) {
    reversed.push_back(e->args[1]);
    e = e->args[0];
  }
  reversed.push_back(e);
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

Expr product_of(const std::vector<Expr>& factors, Type type) {
  Expr r = factors.front();
  for (std::size_t i = 1; i < factors.size(); ++i) r = make(Op::Mul, type, {r, factors[i]});
  return r;
}

std::optional<std::vector<Expr>> remove_factors(std::vector<Expr> factors, const std::vector<Expr>& divisor) {
  for (const Expr& d : divisor) {
    auto it = std::find_if(factors.begin(), factors.end(), [&](const Expr& f) { return equal(f, d); });
    if (it == factors.end()) return std::nullopt;
    factors.erase(it);
  }
  return factors;
}

Expr to_expr(const Linear& l, Type type) {
  if (l.is_constant()) return make_int(type, l.constant);
  if (l.is_atom()) return l.terms[0].atom;
  const std::vector<Piece> pieces = pieces_of(l, type);
  const std::int64_t lowest = type.min_int();
  const auto subtracted = [&](const Piece& p) { return p.coefficient < 0 && p.coefficient != lowest; };
  std::int64_t constant = l.constant;
  Expr sum;
  for (const Piece& p : pieces) {
    if (subtracted(p)) continue;
    Expr t = times(p, p.coefficient, type);
    sum = sum.defined() ? make(Op::Add, type, {sum, t}) : t;
  }
  if (!sum.defined() && constant > 0) sum = make_int(type, std::exchange(constant, 0));
  for (const Piece& p : pieces) {
    if (!subtracted(p)) continue;
    if (sum.defined())
      sum = make(Op::Sub, type, {sum, times(p, -p.coefficient, type)});
    else
      sum = p.coefficient == -1 ? make(Op::Neg, type, {p.value}) : times(p, p.coefficient, type);
  }
  if (constant < 0 && constant != lowest) return make(Op::Sub, type, {sum, make_int(type, -constant)});
  return constant == 0 ? sum : make(Op::Add, type, {sum, make_int(type, constant)});
}

}  // namespace calotype::ir::algebra
