// Integer minima and maxima: nested ones are flattened, operands that others dominate are dropped, what all
// operands share is taken out.
#include <algorithm>

#include "ir/simplify_rules.h"

namespace calotype::ir::algebra {

namespace {

/// Beyond this many operands only constant differences are looked at: proofs would be quadratic.
constexpr std::size_t kMaxProofOperands = 12;

Op opposite(Op op) { return op == Op::Min ? Op::Max : Op::Min; }

void flatten(Op op, const Expr& e, std::vector<Expr>& out) {
  if (!is(e, op)) return out.push_back(e);
  for (const Expr& a : e->args) flatten(op, a, out);
}

Expr chain(Op op, Type type, const std::vector<Expr>& operands) {
  Expr r = operands.front();
  for (std::size_t i = 1; i < operands.size(); ++i) r = make(op, type, {r, operands[i]});
  return r;
}

/// Constants last, the rest by structure.
bool before(const Expr& a, const Expr& b) {
  if (is_const(a) != is_const(b)) return is_const(b);
  return compare(a, b) < 0;
}

std::int64_t shared_constant(const std::vector<Linear>& forms) {
  const auto [lo, hi] = std::minmax_element(
      forms.begin(), forms.end(), [](const Linear& a, const Linear& b) { return a.constant < b.constant; });
  if (std::any_of(forms.begin(), forms.end(), [](const Linear& l) { return l.is_constant(); })) return 0;
  return lo->constant > 0 ? lo->constant : hi->constant < 0 ? hi->constant : 0;
}

/// What divides all coefficients and constants, if taking it out saves multiplications.
std::int64_t common_factor(const std::vector<Linear>& forms) {
  std::int64_t g = 0;
  for (const Linear& l : forms) g = gcd(gcd(g, coefficient_gcd(l)), l.constant);
  if (g <= 1) return 1;
  int saved = 0;
  for (const Linear& l : forms)
    for (const Term& t : l.terms) saved += t.coefficient == g || t.coefficient == -g;
  return saved >= 2 ? g : 1;
}

/// An operand min(p, q) + rest of a minimum as p + rest and q + rest (and likewise for a maximum).
void spread(Op op, const Expr& operand, std::vector<Expr>& out) {
  const Type type = operand->type;
  if (!is(operand, Op::Add) && !is(operand, Op::Sub)) return out.push_back(operand);
  const Linear l = linear_of(operand);
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Term& t = l.terms[i];
    if (!(t.coefficient == 1 && is(t.atom, op)) && !(t.coefficient == -1 && is(t.atom, opposite(op))))
      continue;
    std::vector<Expr> inner;
    flatten(t.atom->op, t.atom, inner);
    for (const Expr& e : inner) out.push_back(to_expr(replaced(l, i, linear_of(e)), type));
    return;
  }
  out.push_back(operand);
}

}  // namespace

void Simplifier::operands_of(Op op, const Expr& e, std::vector<Expr>& out, bool simplified) {
  if (is(e, op)) {
    for (const Expr& a : e->args) operands_of(op, a, out, simplified);
  } else if (simplified) {
    out.push_back(e);
  } else {
    operands_of(op, run(e), out, true);
  }
}

Expr Simplifier::min_max(const Expr& e) {
  std::vector<Expr> operands;
  operands_of(e->op, e, operands, false);
  drop_dominated(e->op, operands);
  if (e->type == Int(64) && operands.size() > 1) {
    std::vector<Expr> wide;
    for (const Expr& o : operands) spread(e->op, o, wide);
    const std::size_t before = wide.size();
    if (before > operands.size()) {
      drop_dominated(e->op, wide);
      if (wide.size() < before) operands = std::move(wide);
    }
  }
  while (operands.size() > 1 && absorb(e->op, e->type, operands)) drop_dominated(e->op, operands);
  if (operands.size() == 1) return operands.front();
  return pull_common(e->op, e->type, std::move(operands));
}

void Simplifier::drop_dominated(Op op, std::vector<Expr>& operands) {
  std::vector<Linear> views;
  for (const Expr& o : operands) views.push_back(analysis_.view(o));
  const bool prove = operands.size() <= kMaxProofOperands;
  const auto drop = [&](std::size_t i) {
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    views.erase(views.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t j = i + 1; j < operands.size();) {
      // `excess` not negative: operand i is the one that counts.
      Linear excess = op == Op::Min ? subtract(views[j], views[i]) : subtract(views[i], views[j]);
      if (equal(operands[i], operands[j]) ||
          ((excess.is_constant() || prove) && analysis_.nonnegative(excess))) {
        drop(j);
      } else if ((excess.is_constant() || prove) && analysis_.nonnegative(scaled(excess, -1))) {
        drop(i);
        j = i + 1;
      } else {
        ++j;
      }
    }
  }
}

/// min(max(a, c), max(b, c)) is max(min(a, b), c).
bool Simplifier::absorb(Op op, Type type, std::vector<Expr>& operands) {
  const Op other = opposite(op);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!is(operands[i], other)) continue;
    for (std::size_t j = i + 1; j < operands.size(); ++j) {
      if (!is(operands[j], other)) continue;
      std::vector<Expr> a, b, common, rest;
      flatten(other, operands[i], a);
      flatten(other, operands[j], b);
      for (const Expr& x : a) {
        auto it = std::find_if(b.begin(), b.end(), [&](const Expr& y) { return equal(x, y); });
        (it == b.end() ? rest : common).push_back(x);
        if (it != b.end()) b.erase(it);
      }
      if (common.empty()) continue;
      if (!rest.empty() && !b.empty())
        common.push_back(make(op, type, {chain(other, type, rest), chain(other, type, b)}));
      operands[i] = run(chain(other, type, common));
      operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
      return true;
    }
  }
  return false;
}

/// min(x + a, x + b) is x + min(a, b); min(8*a, 8*b) is 8*min(a, b).
Expr Simplifier::pull_common(Op op, Type type, std::vector<Expr> operands) {
  const auto plain = [&] {
    std::sort(operands.begin(), operands.end(), before);
    return chain(op, type, operands);
  };
  if (!has_linear_form(type)) return plain();
  std::vector<Linear> forms;
  for (const Expr& o : operands) forms.push_back(linear_of(o));
  if (type != Int(64))
    for (const Linear& l : forms)
      if (!analysis_.fits(l, type)) return plain();

  Linear common = Linear::of_constant(shared_constant(forms));
  for (const Term& t : forms[0].terms) {
    const auto has_term = [&](const Linear& l) {
      return std::any_of(l.terms.begin(), l.terms.end(), [&](const Term& u) {
        return u.coefficient == t.coefficient && equal(u.atom, t.atom);
      });
    };
    if (std::all_of(forms.begin(), forms.end(), has_term)) common.terms.push_back(t);
  }
  for (Linear& l : forms) l = subtract(l, common);
  const std::int64_t g = common_factor(forms);
  if (common.is_zero() && g == 1) return plain();
  if (!std::all_of(forms.begin(), forms.end(), [&](const Linear& l) { return analysis_.fits(l, type); }))
    return plain();
  operands.clear();
  for (const Linear& l : forms) operands.push_back(to_expr(divided_exactly(l, g), type));
  return to_expr(add(common, Linear::of_atom(plain()), g), type);
}

}  // namespace calotype::ir::algebra
