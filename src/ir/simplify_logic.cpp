// Comparisons, logic and selection. Integer comparisons become `left <= right + constant` with the terms of
// the difference on the sides where they are positive.
#include <algorithm>

#include "ir/simplify_rules.h"

namespace calotype::ir::algebra {

namespace {

Expr truth(bool v) { return make_int(Bool(), v); }

bool of_integers(const Expr& comparison) {
  const Type t = comparison->args[0]->type;
  return t.is_integral() && !t.is_bool() && t.is_scalar();
}

/// What must not be negative for the ordered comparison of integers to hold.
Linear slack(Op op, const Linear& a, const Linear& b) {
  return shifted(subtract(b, a), op == Op::Lt ? -1 : 0);
}

void split_signs(const Linear& l, Linear& positive, Linear& negative) {
  for (const Term& t : l.terms) {
    if (t.coefficient > 0)
      positive.terms.push_back(t);
    else
      negative.terms.push_back({t.atom, -t.coefficient});
  }
}

void flatten(Op op, const Expr& e, std::vector<Expr>& out) {
  if (is(e, op)) {
    for (const Expr& a : e->args) flatten(op, a, out);
  } else {
    out.push_back(e);
  }
}

bool complementary(const Expr& a, const Expr& b) {
  if (is(a, Op::Not)) return equal(a->args[0], b);
  if (is(b, Op::Not)) return equal(b->args[0], a);
  const bool eq_ne = (is(a, Op::Eq) && is(b, Op::Ne)) || (is(a, Op::Ne) && is(b, Op::Eq));
  return eq_ne && equal(a->args, b->args);
}

/// How a pair of operands of && or || reduces.
enum class Pair { independent, keep_first, keep_second, decided };

Pair relation(Op op, const Expr& a, const Expr& b, const std::optional<Linear>& form_a,
              const std::optional<Linear>& form_b) {
  const bool conjunction = op == Op::And;
  if (equal(a, b)) return Pair::keep_first;
  if (complementary(a, b)) return Pair::decided;
  if (!form_a || !form_b) return Pair::independent;
  if (const Linear d = subtract(*form_b, *form_a); d.is_constant())
    return (d.constant >= 0) == conjunction ? Pair::keep_first : Pair::keep_second;
  // Both hold only if the sum is not negative; neither only if it is at most -2.
  if (const Linear s = add(*form_a, *form_b); s.is_constant())
    if (conjunction ? s.constant < 0 : s.constant >= -1) return Pair::decided;
  return Pair::independent;
}

}  // namespace

Expr Simplifier::comparison(const Expr& e) {
  const Expr &a = e->args[0], &b = e->args[1];
  if (is_const(a) && is_const(b))
    if (Expr c = fold(e->op, e->type, e->args); c.defined()) return c;
  const Type t = a->type;
  if (t.is_bool() && (e->op == Op::Eq || e->op == Op::Ne)) {
    if (equal(a, b)) return truth(e->op == Op::Eq);
    for (int i = 0; i < 2; ++i)
      if (auto c = as_int(e->args[i])) {
        const Expr& other = e->args[1 - i];
        return (*c != 0) == (e->op == Op::Eq) ? other : run(make(Op::Not, Bool(), {other}));
      }
  }
  if (!of_integers(e)) return e;
  return e->op == Op::Eq || e->op == Op::Ne ? equality(e, a, b) : ordered(e, a, b);
}

Expr Simplifier::ordered(const Expr& e, const Expr& a, const Expr& b) {
  const Linear ideal = slack(e->op, analysis_.view(a), analysis_.view(b));
  if (analysis_.nonnegative(ideal)) return truth(true);
  if (analysis_.nonnegative(shifted(scaled(ideal, -1), -1))) return truth(false);
  if (!has_linear_form(a->type)) return e;
  Expr r = below_zero_form(slack(e->op, typed(a), typed(b)), a->type);
  return r.defined() ? r : e;
}

/// `l >= 0` as a comparison, or undefined where its sides might wrap.
Expr Simplifier::below_zero_form(Linear l, Type type) {
  const std::int64_t g = coefficient_gcd(l);
  if (l.overflow || g == 0) return {};
  if (g > 1) {
    l.constant = floor_div(l.constant, g) * g;
    l = divided_exactly(l, g);
  }
  if (type == Int(64) && l.terms.size() <= 2) {
    for (std::size_t i = 0; i < l.terms.size(); ++i) {
      // p / d >= m means p >= d * m; p / d <= m means p <= d * m + d - 1.
      const Term& t = l.terms[i];
      const auto d = is(t.atom, Op::Div) ? as_int(t.atom->args[1]) : std::nullopt;
      if (!d || *d <= 0 || (t.coefficient != 1 && t.coefficient != -1)) continue;
      const Linear opened = add(shifted(scaled(without(l, i), *d), t.coefficient < 0 ? *d - 1 : 0),
                                linear_of(t.atom->args[0]), t.coefficient);
      if (!opened.overflow) return below_zero_form(opened, type);
    }
  }
  Linear right, left;
  split_signs(l, right, left);
  std::int64_t k = l.constant;
  Op op = Op::Le;
  if (left.is_constant()) {
    if (k == INT64_MIN) return {};
    left.constant = -k;
  } else if (right.is_constant() || k > 0) {
    if (k == INT64_MAX) return {};
    op = Op::Lt;
    right.constant = k + 1;
  } else if (k < 0) {
    op = Op::Lt;
    left.constant = -(k + 1);
  }
  if (!analysis_.fits(left, type) || !analysis_.fits(right, type)) return {};
  return make(op, Bool(), {to_expr(left, type), to_expr(right, type)});
}

Expr Simplifier::equality(const Expr& e, const Expr& a, const Expr& b) {
  const bool eq = e->op == Op::Eq;
  const Linear ideal = subtract(analysis_.view(a), analysis_.view(b));
  const std::int64_t ideal_gcd = coefficient_gcd(ideal);
  if (equal(a, b) || ideal.is_zero()) return truth(eq);
  if (ideal.overflow) return e;
  if (ideal.is_constant() || ideal.constant % std::max<std::int64_t>(ideal_gcd, 1) != 0) return truth(!eq);
  const bool at_least = analysis_.nonnegative(ideal), at_most = analysis_.nonnegative(scaled(ideal, -1));
  if (at_least && at_most) return truth(eq);
  if (analysis_.positive(ideal) || analysis_.positive(scaled(ideal, -1))) return truth(!eq);
  const auto sorted = [&] {
    const bool swap = is_const(a) || (!is_const(b) && compare(b, a) < 0);
    return swap ? make(e->op, e->type, {b, a}) : e;
  };
  if (!has_linear_form(a->type)) return sorted();
  Linear l = subtract(typed(a), typed(b));
  const std::int64_t g = coefficient_gcd(l);
  if (l.overflow || g == 0 || l.constant % g != 0) return sorted();
  l = divided_exactly(l, g);
  if (l.terms[0].coefficient < 0) l = scaled(l, -1);
  Linear left, right;
  split_signs(l, left, right);
  // The constant goes where it is positive, but stays alone on the right.
  if (l.constant > 0 && !right.is_constant())
    left.constant = l.constant;
  else
    right.constant = -l.constant;
  if (!analysis_.fits(left, a->type) || !analysis_.fits(right, a->type)) return sorted();
  return make(e->op, Bool(), {to_expr(left, a->type), to_expr(right, a->type)});
}

Expr Simplifier::negation(const Expr& e) {
  const Expr& a = e->args[0];
  if (is_const(a)) return fold(Op::Not, e->type, e->args);
  const auto negated = [&](const Expr& x) { return run(make(Op::Not, e->type, {x})); };
  switch (a->op) {
    case Op::Not:
      return a->args[0];
    case Op::Lt:
    case Op::Le:
      if (!of_integers(a)) return e;
      return run(make(a->op == Op::Lt ? Op::Le : Op::Lt, e->type, {a->args[1], a->args[0]}));
    case Op::Eq:
      return make(Op::Ne, e->type, a->args);
    case Op::Ne:
      return make(Op::Eq, e->type, a->args);
    case Op::Likely:
      return make(Op::Likely, e->type, {negated(a->args[0])});
    case Op::And:
    case Op::Or:
      return make(a->op == Op::And ? Op::Or : Op::And, e->type, {negated(a->args[0]), negated(a->args[1])});
    default:
      return e;
  }
}

Expr Simplifier::connective(const Expr& e) {
  const bool conjunction = e->op == Op::And;
  std::vector<Expr> given, operands;
  flatten(e->op, e, given);
  for (const Expr& g : given) {
    const Expr r = run(g);
    if (auto c = as_int(r)) {
      if ((*c != 0) != conjunction) return truth(!conjunction);
      continue;
    }
    flatten(e->op, r, operands);
  }
  if (!reduce_pairs(e->op, operands)) return truth(!conjunction);
  if (operands.empty()) return truth(conjunction);
  Expr r = operands.front();
  for (std::size_t i = 1; i < operands.size(); ++i) r = make(e->op, e->type, {r, operands[i]});
  return r;
}

/// Drops what another operand implies; false if two of them decide the whole.
bool Simplifier::reduce_pairs(Op op, std::vector<Expr>& operands) {
  // As forms that are not negative where the operand holds.
  std::vector<std::optional<Linear>> forms;
  for (const Expr& o : operands) {
    const bool ordered = (is(o, Op::Lt) || is(o, Op::Le)) && of_integers(o);
    forms.push_back(ordered
                        ? std::optional(slack(o->op, analysis_.view(o->args[0]), analysis_.view(o->args[1])))
                        : std::nullopt);
  }
  const auto erase = [&](std::size_t i) {
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    forms.erase(forms.begin() + static_cast<std::ptrdiff_t>(i));
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t j = i + 1; j < operands.size();) {
      switch (relation(op, operands[i], operands[j], forms[i], forms[j])) {
        case Pair::decided:
          return false;
        case Pair::independent:
          ++j;
          break;
        case Pair::keep_first:
          erase(j);
          break;
        case Pair::keep_second:
          std::swap(operands[i], operands[j]);
          std::swap(forms[i], forms[j]);
          erase(j);
          j = i + 1;
          break;
      }
    }
  }
  return true;
}

Expr Simplifier::select(const Expr& e) {
  const Expr &c = e->args[0], &a = e->args[1], &b = e->args[2];
  const auto again = [&](Expr cond, Expr x, Expr y) { return make(Op::Select, e->type, {cond, x, y}); };
  if (auto v = as_int(c)) return *v != 0 ? a : b;
  if (equal(a, b)) return a;
  if (is(c, Op::Not)) return again(c->args[0], b, a);
  if (e->type.is_bool()) {
    const auto x = as_int(a), y = as_int(b);
    if (x && y) return *x != 0 ? c : run(make(Op::Not, e->type, {c}));
    if (x && *x != 0) return run(make(Op::Or, e->type, {c, b}));
    if (y && *y == 0) return run(make(Op::And, e->type, {c, a}));
  }
  if (is(a, Op::Select) && equal(a->args[0], c)) return again(c, a->args[1], b);
  if (is(b, Op::Select) && equal(b->args[0], c)) return again(c, a, b->args[2]);
  if (is(b, Op::Select) && equal(b->args[1], a))
    return again(run(make(Op::Or, Bool(), {c, b->args[0]})), a, b->args[2]);
  return e;
}

Expr Simplifier::known_condition(const Expr& e) {
  for (const Expr& k : known_true_) {
    if (equal(k, e)) return truth(true);
    if (complementary(k, e)) return truth(false);
  }
  return e;
}

}  // namespace calotype::ir::algebra
