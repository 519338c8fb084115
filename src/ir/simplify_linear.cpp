// Sums, differences and products of Int(32) and Int(64): the canonical linear form.
#include "ir/simplify_rules.h"

namespace calotype::ir::algebra {

Expr Simplifier::sum(const Expr& e) {
  Linear l = linear_of(e, [this](const Expr& a) { return run(a); });
  l = merge_symbolic(merge_pairs(std::move(l)));
  return to_expr(l, e->type);
}

Linear Simplifier::typed(const Expr& e) {
  if (!has_linear_form(e->type)) {
    if (auto c = as_int(e); c && e->type != UInt(64)) return Linear::of_constant(*c);
    return Linear::of_atom(e);
  }
  Linear l = linear_of(e);
  return analysis_.fits(l, e->type) ? l : Linear::of_atom(e);
}

/// (p / n) * n + p % n is p where n is not 0, and c * (p / d) is an exact division where p is a multiple of d
/// and c of d too.
Linear Simplifier::merge_symbolic(Linear l) {
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Term t = l.terms[i];
    const Expr& a = t.atom;
    if (a->type != Int(64)) continue;
    if (is(a, Op::Div)) {
      const auto d = as_int(a->args[1]);
      if (!d || *d <= 1 || t.coefficient % *d != 0 || analysis_.multiple(a->args[0]) % *d != 0) continue;
      return merge_symbolic(add(without(l, i), linear_of(a->args[0]), t.coefficient / *d));
    }
    if (!is(a, Op::Mod) || is_const(a->args[1])) continue;
    const Expr quotient = make(Op::Div, a->type, a->args);
    Linear whole = multiply(Linear::of_atom(quotient), linear_of(a->args[1]));
    if (!whole.is_monomial()) continue;
    for (const Term& other : l.terms) {
      if (!equal(other.atom, whole.terms[0].atom) ||
          other.coefficient != t.coefficient * whole.terms[0].coefficient)
        continue;
      const Linear n = analysis_.view(a->args[1]);
      if (!analysis_.positive(n) && !analysis_.positive(scaled(n, -1))) break;
      return merge_symbolic(add(add(l, Linear::of_atom(a), -t.coefficient),
                                add(linear_of(a->args[0]), whole, -1), t.coefficient));
    }
  }
  return l;
}

}  // namespace calotype::ir::algebra
