// Floor division and Euclidean modulo: multiples are split off, the rest decided by its range.
#include <algorithm>

#include "ir/simplify_rules.h"

namespace calotype::ir::algebra {

namespace {

/// A form split by a divisor: divisor * multiple + rest.
struct Split {
  Linear multiple, rest;
};

Split split_by(const Linear& p, std::int64_t d) {
  Split s;
  s.rest.constant = p.constant;
  for (const Term& t : p.terms) {
    if (t.coefficient % d == 0)
      s.multiple.terms.push_back({t.atom, t.coefficient / d});
    else
      s.rest.terms.push_back(t);
  }
  return s;
}

/// Divisors of d shared with some coefficient of p, largest first.
std::vector<std::int64_t> common_divisors(const Linear& p, std::int64_t d) {
  std::vector<std::int64_t> g;
  for (const Term& t : p.terms) g.push_back(gcd(t.coefficient, d));
  g.push_back(coefficient_gcd(p) == 0 ? 1 : gcd(coefficient_gcd(p), d));
  std::sort(g.begin(), g.end(), std::greater<>());
  g.erase(std::unique(g.begin(), g.end()), g.end());
  std::erase_if(g, [d](std::int64_t v) { return v <= 1 || v >= d; });
  return g;
}

Expr node(Op op, Type type, const Linear& p, std::int64_t d) {
  return make(op, type, {to_expr(p, type), make_int(type, d)});
}

/// If the range lies within one period of d: the number of that period.
std::optional<std::int64_t> period_of(const Range& r, std::int64_t d) {
  if (!r.bounded() || floor_div(r.lo, d) != floor_div(r.hi, d)) return std::nullopt;
  return floor_div(r.lo, d);
}

bool fits_type(std::int64_t v, Type t) { return v >= t.min_int() && v <= t.max_int(); }

/// p == quotient * n + rest, as far as terms of p contain n.
struct Quotient {
  Linear quotient, rest;
};

Quotient extract_symbol(const Linear& p, const Linear& n) {
  Quotient q{{}, p};
  // The lead of n is its term of most factors; a multiple of n has terms that contain it.
  const Term* lead = &n.terms.front();
  for (const Term& t : n.terms)
    if (factors_of(t.atom).size() > factors_of(lead->atom).size()) lead = &t;
  const std::vector<Expr> divisor = factors_of(lead->atom);
  for (const Term& t : p.terms) {
    if (t.coefficient % lead->coefficient != 0) continue;
    auto rest = remove_factors(factors_of(t.atom), divisor);
    if (!rest) continue;
    const std::int64_t c = t.coefficient / lead->coefficient;
    Linear part =
        rest->empty() ? Linear::of_constant(c) : Linear::of_atom(product_of(*rest, t.atom->type), c);
    Linear left = subtract(q.rest, multiply(part, n));
    if (left.terms.size() >= q.rest.terms.size()) continue;
    q.rest = std::move(left);
    q.quotient = add(q.quotient, part);
  }
  return q;
}

}  // namespace

Expr Simplifier::divide(const Expr& e) {
  const Expr &a = e->args[0], &b = e->args[1];
  const Type type = e->type;
  if (is_const(a) && is_const(b)) return fold(Op::Div, type, e->args);
  if (is_zero(a) || is_zero(b)) return make_zero(type);
  const auto d = as_int(b);
  if (!d) return divide_by_symbol(e);
  if (*d == 1) return a;
  if (*d < 0) return e;
  const Linear p = typed(a);
  Expr r = divide_by_constant(type, p, *d);
  if (!r.defined()) r = divide_extreme(type, p, *d);
  return r.defined() ? r : e;
}

/// (min(x, y) + k) / d is min((x + k) / d, (y + k) / d) for d > 0; worthwhile where one of the two divisions
/// goes away, as in (min(4 * q + 3, n) / 4.
Expr Simplifier::divide_extreme(Type type, const Linear& p, std::int64_t d) {
  if (!has_linear_form(type) || p.terms.size() != 1 || p.terms[0].coefficient != 1) return {};
  const Expr& extreme = p.terms[0].atom;
  if (!is(extreme, Op::Min) && !is(extreme, Op::Max)) return {};
  const auto divides = [](const Expr& e) { return any_of(e, [](const Expr& n) { return is(n, Op::Div); }); };
  std::vector<Expr> parts;
  bool gone = false;
  for (const Expr& operand : extreme->args) {
    const Linear shifted_operand = shifted(typed(operand), p.constant);
    if (!analysis_.fits(shifted_operand, type)) return {};
    parts.push_back(run(node(Op::Div, type, shifted_operand, d)));
    gone |= !divides(parts.back());
  }
  return gone ? make(extreme->op, type, std::move(parts)) : Expr();
}

Expr Simplifier::divide_by_constant(Type type, const Linear& p, std::int64_t d) {
  if (auto q = period_of(analysis_.bounds(p), d)) return make_int(type, *q);
  if (!has_linear_form(type) && !p.is_atom()) return {};

  Split s = split_by(p, d);
  const std::int64_t whole = p.constant / d;
  if (!s.multiple.terms.empty() || whole != 0) {
    s.rest.constant -= whole * d;
    s.multiple.constant = whole;
    if (analysis_.fits(s.rest, type)) {
      if (s.rest.is_constant())
        s.multiple.constant += floor_div(s.rest.constant, d);
      else
        s.multiple = add(s.multiple, linear_of(run(node(Op::Div, type, s.rest, d))));
      return to_expr(s.multiple, type);
    }
  }
  // (g * m + r) / d is m / (d / g) where r is within one period of g.
  for (std::int64_t g : common_divisors(p, d)) {
    Split by = split_by(p, g);
    by.rest.constant = floor_mod(p.constant, g);
    by.multiple.constant = floor_div(p.constant, g);
    const auto q = period_of(analysis_.bounds(by.rest), g);
    if (!q || (by.rest.terms.empty() && by.multiple.terms.empty())) continue;
    return node(Op::Div, type, shifted(by.multiple, *q), d / g);
  }
  // (x / a + k) / b is (x + k * a) / (a * b)
  if (p.terms.size() == 1 && p.terms[0].coefficient == 1 && is(p.terms[0].atom, Op::Div)) {
    const Expr& inner = p.terms[0].atom;
    const auto a = as_int(inner->args[1]);
    std::int64_t product, offset;
    if (a && *a > 0 && !mul_overflows(*a, d, product) && fits_type(product, type) &&
        !mul_overflows(p.constant, *a, offset)) {
      Linear x = shifted(typed(inner->args[0]), offset);
      if (p.constant == 0 || (has_linear_form(type) && analysis_.fits(x, type)))
        return p.constant == 0 ? make(Op::Div, type, {inner->args[0], make_int(type, product)})
                               : node(Op::Div, type, x, product);
    }
  }
  // Terms that are multiples of d by what is known of their symbols, if nothing else carries into them.
  Linear known, rest = Linear::of_constant(p.constant);
  for (const Term& t : p.terms)
    (analysis_.multiple(Linear::of_atom(t.atom, t.coefficient)) % d == 0 ? known : rest).terms.push_back(t);
  if (!known.terms.empty() && !rest.is_zero())
    if (auto q = period_of(analysis_.bounds(rest), d)) {
      Expr quotient = node(Op::Div, type, known, d);
      return *q == 0 ? quotient : make(Op::Add, type, {quotient, make_int(type, *q)});
    }
  return {};
}

Expr Simplifier::modulo(const Expr& e) {
  const Expr &a = e->args[0], &b = e->args[1];
  const Type type = e->type;
  if (is_const(a) && is_const(b)) return fold(Op::Mod, type, e->args);
  if (is_zero(a) || is_zero(b) || is_one(b) || equal(a, b)) return make_zero(type);
  const auto d = as_int(b);
  if (!d) return modulo_symbol(e);
  if (*d < 0) return e;
  Expr r = modulo_constant(type, typed(a), *d);
  return r.defined() ? r : e;
}

Expr Simplifier::modulo_constant(Type type, const Linear& p, std::int64_t d) {
  if (auto q = period_of(analysis_.bounds(p), d); q && (*q == 0 || has_linear_form(type) || p.is_constant()))
    return to_expr(shifted(p, -*q * d), type);
  if (!has_linear_form(type)) return {};

  // Everything modulo d.
  Linear r = Linear::of_constant(floor_mod(p.constant, d));
  bool changed = r.constant != p.constant;
  for (const Term& t : p.terms) {
    std::int64_t period;
    if (analysis_.multiple(Linear::of_atom(t.atom, t.coefficient)) % d == 0) {
      changed = true;
    } else if (auto m = is(t.atom, Op::Mod) ? as_int(t.atom->args[1]) : std::nullopt;
               m && *m > 0 && !mul_overflows(*m, t.coefficient, period) && period % d == 0) {
      r = add(r, typed(t.atom->args[0]), t.coefficient);
      changed = true;
    } else {
      const bool large = t.coefficient >= d || t.coefficient <= -d;
      changed |= large;
      r = add(r, Linear::of_atom(t.atom, large ? t.coefficient % d : t.coefficient));
    }
  }
  if (changed && analysis_.fits(r, type)) return node(Op::Mod, type, merge_pairs(std::move(r)), d);
  // (g * m + r) % d is g * (m % (d / g)) + r where r is within [0, g)
  for (std::int64_t g : common_divisors(p, d)) {
    Split by = split_by(p, g);
    by.rest.constant = floor_mod(p.constant, g);
    by.multiple.constant = floor_div(p.constant, g);
    const auto q = period_of(analysis_.bounds(by.rest), g);
    if (!q || by.multiple.terms.empty()) continue;
    by.rest.constant -= *q * g;
    by.multiple.constant += *q;
    return to_expr(add(by.rest, Linear::of_atom(node(Op::Mod, type, by.multiple, d / g)), g), type);
  }
  return {};
}

Expr Simplifier::divide_by_symbol(const Expr& e) {
  const Type type = e->type;
  const Linear p = typed(e->args[0]), n = typed(e->args[1]);
  const Linear ideal_p = analysis_.view(e->args[0]), ideal_n = analysis_.view(e->args[1]);
  if (!analysis_.positive(ideal_n)) return e;
  if (p == n) return make_one(type);
  if (analysis_.nonnegative(ideal_p) && analysis_.positive(subtract(ideal_n, ideal_p)))
    return make_zero(type);
  if (type != Int(64)) return e;
  Quotient q = extract_symbol(p, n);
  if (q.quotient.is_zero()) return e;
  if (q.rest.is_zero() || (analysis_.nonnegative(q.rest) && analysis_.positive(subtract(n, q.rest))))
    return to_expr(q.quotient, type);
  return to_expr(add(q.quotient, Linear::of_atom(make(Op::Div, type, {to_expr(q.rest, type), e->args[1]}))),
                 type);
}

Expr Simplifier::modulo_symbol(const Expr& e) {
  const Type type = e->type;
  const Linear p = typed(e->args[0]), n = typed(e->args[1]);
  const Linear ideal_p = analysis_.view(e->args[0]), ideal_n = analysis_.view(e->args[1]);
  if (analysis_.nonnegative(ideal_p) && analysis_.positive(subtract(ideal_n, ideal_p))) return e->args[0];
  if (type != Int(64) || n.is_constant()) return e;
  Quotient q = extract_symbol(p, n);
  // A multiple of n more or less changes nothing, even for n of 0 or below: x % 0 is 0 for every x.
  Linear rest = q.rest;
  for (const Term& t : q.rest.terms)
    if (is(t.atom, Op::Mod) && equal(t.atom->args[1], e->args[1]))
      rest =
          add(add(rest, Linear::of_atom(t.atom), -t.coefficient), linear_of(t.atom->args[0]), t.coefficient);
  if (rest == p) return e;
  return make(Op::Mod, type, {to_expr(rest, type), e->args[1]});
}

Expr Simplifier::truncating(const Expr& e) {
  const Expr &a = e->args[0], &b = e->args[1];
  const bool division = e->op == Op::TruncDiv;
  if (is_const(a) && is_const(b)) return fold(e->op, e->type, e->args);
  if (is_zero(a)) return a;
  if (is_one(b)) return division ? a : make_zero(e->type);
  const Range p = analysis_.range(a), d = analysis_.range(b);
  if (p.lo >= 0 && p.hi < d.lo) return division ? make_zero(e->type) : a;
  return e;
}

}  // namespace calotype::ir::algebra
