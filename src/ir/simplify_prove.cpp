// Lower bounds of linear forms by a bounded search. A minimum with positive coefficient is as small as one of
// its operands, so both are tried and the smaller bound holds (`split_all`); a maximum is at least each
// operand, so the larger bound holds (`split_any`); symbols give way to the ends of their ranges, innermost
// first; quotients to what they round. Each step yields a form that bounds the one before, so cancellation
// between terms is kept.
#include <algorithm>

#include "ir/simplify_analysis.h"

namespace calotype::ir::algebra {

namespace {

constexpr int kMaxConditionDepth = 2;
/// All searches of one question together: beyond this many steps each gets few.
constexpr int kManySteps = 4000, kFewSteps = 8;

bool is_positive_const(const Expr& e) {
  const auto c = as_int(e);
  return c && *c > 0;
}

}  // namespace

bool Analysis::is_weary() const { return steps_taken_ > kManySteps; }

int Analysis::steps_allowed() const { return is_weary() ? std::min(effort_, kFewSteps) : effort_; }

bool Analysis::nonnegative(const Linear& l) {
  if (l.is_constant()) return !l.overflow && l.constant >= 0;
  if (samples_ != 0 && (ranges_->samples().negative(l) & samples_)) return false;
  steps_left_ = steps_allowed();
  const std::int64_t g = coefficient_gcd(l);
  if (g <= 1) return lower(l, 0) >= 0;
  Linear reduced = l;
  reduced.constant = floor_div(l.constant, g) * g;
  return lower(divided_exactly(reduced, g), 0) >= 0;
}

Range Analysis::bounds(const Linear& l) {
  const Range quick = range(l);
  if (l.is_constant() || quick.is_point() || l.overflow) return quick;
  const std::int64_t g = std::max<std::int64_t>(coefficient_gcd(l), 1);
  Linear base = l;
  base.constant = 0;
  base = divided_exactly(base, g);
  Range r;
  steps_left_ = steps_allowed();
  r.lo = lower(base, Range::kHighest);
  steps_left_ = steps_allowed();
  const std::int64_t negated = lower(scaled(base, -1), Range::kHighest);
  if (negated != Range::kLowest) r.hi = -negated;
  return intersect(scaled(r, g) + Range::point(l.constant), quick);
}

std::int64_t Analysis::lower(const Linear& l, std::int64_t goal) {
  const std::int64_t quick = range(l).lo;
  if (l.overflow || l.is_constant() || quick >= goal || steps_left_ <= 0) return quick;
  if (quick == Range::kLowest && hopeless(l)) return quick;
  if (const Found* f = found(l); f && (f->bound >= goal || goal >= f->goal)) return std::max(quick, f->bound);
  --steps_left_;
  ++steps_taken_;
  const std::int64_t best = search(l, goal, quick);
  // A search cut short, or without the conditions, says nothing about the next one.
  if (best >= goal || (steps_left_ > 0 && condition_depth_ == 0))
    found_.insert_or_assign(l, Found{best, goal});
  return best;
}

const Analysis::Found* Analysis::found(const Linear& l) const {
  if (const auto it = found_.find(l); it != found_.end()) return &it->second;
  for (const std::shared_ptr<const Findings>& before : found_before_)
    if (const auto it = before->find(l); it != before->end()) return &it->second;
  return nullptr;
}

std::int64_t Analysis::search(const Linear& l, std::int64_t goal, std::int64_t best) {
  if (open_transparent(l, goal, best) || split_all(l, goal, best)) return best;
  if (use_conditions(l, goal, best) || bound_variables(l, goal, best, true)) return best;
  if (split_any(l, goal, best) || open_divisions(l, goal, best)) return best;
  if (bound_products(l, goal, best) || bound_variables(l, goal, best, false)) return best;
  open_lets(l, goal, best);
  return best;
}

/// A symbol with nothing to cancel against and no end on the side needed.
bool Analysis::hopeless(const Linear& l) {
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Term& t = l.terms[i];
    if (t.atom->op != Op::Variable) continue;
    const Range r = range(t.atom);
    if (t.coefficient > 0 ? r.lo != Range::kLowest : r.hi != Range::kHighest) continue;
    const SymbolPtr& s = symbol_of(t.atom);
    const Facts::Known* known = ranges_->known(s);
    if (ranges_->symbolic_end(s, t.coefficient > 0).defined() || (known && known->value.defined())) continue;
    std::uint64_t others = condition_mask_;
    for (std::size_t j = 0; j < l.terms.size(); ++j)
      if (j != i) others |= ranges_->reach(l.terms[j].atom);
    if (!(others & Ranges::mask_bit(s->unique))) return true;
  }
  return false;
}

Linear Analysis::replaced(const Linear& l, std::size_t i, const Linear& by) {
  return merge_pairs(algebra::replaced(l, i, by));
}

bool Analysis::open_transparent(const Linear& l, std::int64_t goal, std::int64_t& best) {
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Expr& a = l.terms[i].atom;
    Expr inner;
    if (a->op == Op::Likely || (a->op == Op::Cast && keeps_value(a->args[0], a->type))) inner = a->args[0];
    if (a->op == Op::Let) inner = substitute(a->args[1], {{symbol_of(a), a->args[0]}});
    if (!inner.defined()) continue;
    best = std::max(best, lower(replaced(l, i, view(inner)), goal));
    return true;
  }
  return false;
}

bool Analysis::split_all(const Linear& l, std::int64_t goal, std::int64_t& best) {
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Expr& a = l.terms[i].atom;
    const Op least = l.terms[i].coefficient > 0 ? Op::Min : Op::Max;
    if (a->op != least && a->op != Op::Select) continue;
    const std::size_t first = a->op == Op::Select ? 1 : 0;
    const auto branch = [&](std::size_t arm) {
      Linear b = replaced(l, i, view(a->args[arm]));
      for (std::size_t j = 0; a->op == Op::Select && j < b.terms.size();) {
        const Expr& o = b.terms[j].atom;
        if (o->op == Op::Select && equal(o->args[0], a->args[0]))
          b = replaced(b, j, view(o->args[arm])), j = 0;
        else
          ++j;
      }
      return lower(b, goal);
    };
    const std::int64_t x = branch(first);
    if (goal != Range::kHighest && x < goal) return true;
    best = std::max(best, std::min(x, branch(first + 1)));
    return true;
  }
  return false;
}

bool Analysis::use_conditions(const Linear& l, std::int64_t goal, std::int64_t& best) {
  if (condition_depth_ >= kMaxConditionDepth) return false;
  ++condition_depth_;
  for (const Linear& known : conditions_) {
    // l - m * known cancels a term; what remains bounds l from below as known >= 0.
    for (const Term& k : known.terms) {
      const auto it =
          std::find_if(l.terms.begin(), l.terms.end(), [&](const Term& t) { return equal(t.atom, k.atom); });
      if (it == l.terms.end() || (it->coefficient > 0) != (k.coefficient > 0)) continue;
      const std::int64_t g = gcd(it->coefficient, k.coefficient);
      const std::int64_t m = it->coefficient / g * (it->coefficient < 0 ? -1 : 1);
      const std::int64_t s = k.coefficient / g * (k.coefficient < 0 ? -1 : 1);
      std::int64_t scaled_goal;
      if (goal == Range::kHighest || mul_overflows(goal, s, scaled_goal)) scaled_goal = goal;
      const std::int64_t found = lower(merge_pairs(add(scaled(l, s), known, -m)), scaled_goal);
      if (found != Range::kLowest) best = std::max(best, ceil_div(found, s));
      if (best >= goal) break;
    }
    if (best >= goal) break;
  }
  --condition_depth_;
  return best >= goal;
}

bool Analysis::bound_variables(const Linear& l, std::int64_t goal, std::int64_t& best, bool isolated_only) {
  std::size_t chosen = l.terms.size();
  int highest = -1;
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Expr& a = l.terms[i].atom;
    if (a->op != Op::Variable || !ranges_->symbolic_end(symbol_of(a), l.terms[i].coefficient > 0).defined())
      continue;
    std::uint64_t others = 0;
    for (std::size_t j = 0; isolated_only && j < l.terms.size(); ++j)
      if (j != i) others |= ranges_->mask(l.terms[j].atom);
    if (others & ranges_->mask(a)) continue;
    if (const int r = ranges_->rank(symbol_of(a)); r > highest) chosen = i, highest = r;
  }
  if (chosen == l.terms.size()) return false;
  const Term& t = l.terms[chosen];
  best = std::max(
      best,
      lower(replaced(l, chosen, view(ranges_->symbolic_end(symbol_of(t.atom), t.coefficient > 0))), goal));
  return best >= goal || isolated_only;
}

bool Analysis::split_any(const Linear& l, std::int64_t goal, std::int64_t& best) {
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Expr& a = l.terms[i].atom;
    if (a->op != (l.terms[i].coefficient > 0 ? Op::Max : Op::Min)) continue;
    for (const Expr& arm : a->args) {
      best = std::max(best, lower(replaced(l, i, view(arm)), goal));
      if (best >= goal) return true;
    }
    return false;
  }
  return false;
}

bool Analysis::open_divisions(const Linear& l, std::int64_t goal, std::int64_t& best) {
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Expr& a = l.terms[i].atom;
    const std::int64_t c = l.terms[i].coefficient;
    const bool division = a->op == Op::Div || a->op == Op::TruncDiv;
    const bool modulo = a->op == Op::Mod || a->op == Op::TruncMod;
    if (!(division || modulo) || !is_positive_const(a->args[1])) continue;
    const std::int64_t d = *as_int(a->args[1]);
    const Linear p = view(a->args[0]);
    if (modulo) {
      // p % d = p - d * (p / d), worth it where p cancels.
      std::uint64_t others = 0;
      for (std::size_t j = 0; j < l.terms.size(); ++j)
        if (j != i) others |= ranges_->mask(l.terms[j].atom);
      if (!(others & ranges_->mask(a))) continue;
      Expr quotient = make(a->op == Op::Mod ? Op::Div : Op::TruncDiv, a->type, a->args);
      best = std::max(best, lower(add(algebra::replaced(l, i, p), Linear::of_atom(quotient, d), -c), goal));
      if (best >= goal) return true;
      continue;
    }
    // d * (p / d) = p - p % d, where p % d is at most d - 1 and congruent to the constant of p.
    const std::int64_t g = std::max<std::int64_t>(gcd(coefficient_gcd(p), d), 1),
                       k = floor_mod(p.constant, g);
    const std::int64_t slack = c > 0 ? d - g + k : k;
    const Linear opened = add(scaled(without(l, i), d), shifted(p, -slack), c);
    std::int64_t scaled_goal;
    if (goal == Range::kHighest || mul_overflows(goal, d, scaled_goal)) scaled_goal = goal;
    if (opened.overflow) continue;
    const std::int64_t found = lower(merge_pairs(opened), scaled_goal);
    if (found != Range::kLowest) best = std::max(best, ceil_div(found, d));
    if (best >= goal) return true;
  }
  return false;
}

bool Analysis::bound_products(const Linear& l, std::int64_t goal, std::int64_t& best) {
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Term& t = l.terms[i];
    const Op op = t.atom->op;
    if (t.atom->type != Int(64) || (op != Op::Mul && op != Op::Div && op != Op::Mod)) continue;
    const std::vector<Expr> factors = factors_of(t.atom);
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const Expr& factor = factors[f];
      std::vector<Expr> rest = factors;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(f));
      const Expr others = rest.empty() ? index(1) : product_of(rest, Int(64));
      const Range sign = scaled(range(others), t.coefficient);
      if (sign.lo < 0 && sign.hi > 0) continue;
      Linear by;
      if (factor->op == Op::Variable && factors.size() > 1) {
        Expr end = ranges_->symbolic_end(symbol_of(factor), sign.lo >= 0);
        if (!end.defined()) continue;
        by = multiply(view(end), view(others));
      } else if (factor->op == Op::Mod && !is_const(factor->args[1]) && range(factor->args[1]).lo >= 1) {
        by = sign.lo >= 0 ? Linear{} : multiply(shifted(view(factor->args[1]), -1), view(others));
      } else if (factor->op == Op::Div && range(factor->args[1]).lo >= 1) {
        auto cofactors = remove_factors(rest, {factor->args[1]});
        if (!cofactors) continue;
        // (p / n) * n is p - p % n, within [p - n + 1, p].
        Linear p = view(factor->args[0]);
        if (sign.lo >= 0) p = shifted(subtract(p, view(factor->args[1])), 1);
        const Range outer =
            scaled(cofactors->empty() ? Range::point(1) : range(product_of(*cofactors, Int(64))), 1);
        if (outer.lo < 0) continue;
        by = cofactors->empty() ? p : multiply(p, view(product_of(*cofactors, Int(64))));
      } else {
        continue;
      }
      best = std::max(best, lower(replaced(l, i, by), goal));
      if (best >= goal) return true;
    }
  }
  return false;
}

bool Analysis::open_lets(const Linear& l, std::int64_t goal, std::int64_t& best) {
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Expr& a = l.terms[i].atom;
    if (a->op != Op::Variable) continue;
    const Facts::Known* known = ranges_->known(symbol_of(a));
    if (!known || !known->value.defined() || !known->value->type.is_scalar()) continue;
    best = std::max(best, lower(replaced(l, i, view(known->value)), goal));
    return best >= goal;
  }
  return false;
}

void Analysis::assume(const Expr& condition) {
  const auto note = [&](const Expr& larger, const Expr& smaller, std::int64_t by) {
    Linear l = shifted(subtract(view(larger), view(smaller)), -by);
    for (const Term& t : l.terms) condition_mask_ |= ranges_->reach(t.atom);
    samples_ &= ranges_->samples().nonnegative(l);
    conditions_.push_back(std::move(l));
  };
  const auto comparable = [](const Expr& e) {
    return e->args[0]->type.is_integral() && e->args[0]->type.is_scalar() && !e->args[0]->type.is_bool();
  };
  switch (condition->op) {
    case Op::And:
      for (const Expr& a : condition->args) assume(a);
      return;
    case Op::Likely:
      return assume(condition->args[0]);
    case Op::Lt:
      if (comparable(condition)) note(condition->args[1], condition->args[0], 1);
      return;
    case Op::Le:
      if (comparable(condition)) note(condition->args[1], condition->args[0], 0);
      return;
    case Op::Eq:
      if (!comparable(condition)) return;
      note(condition->args[1], condition->args[0], 0);
      note(condition->args[0], condition->args[1], 0);
      return;
    case Op::Not: {
      const Expr& c = condition->args[0];
      if (c->op == Op::Lt && comparable(c)) note(c->args[0], c->args[1], 0);
      if (c->op == Op::Le && comparable(c)) note(c->args[0], c->args[1], 1);
      return;
    }
    default:
      return;
  }
}

}  // namespace calotype::ir::algebra
