#pragma once
// Linear forms over integer expressions: sum of coefficient * atom + constant, kept sorted and merged, so
// that equal sums have equal forms. An atom is any expression that is no sum: a symbol, a product of symbols,
// a minimum ... The simplifier reads sums into this form, works on it and writes it back.

#include <functional>

#include "ir/expr_node.h"

namespace calotype::ir::algebra {

struct Term {
  Expr atom;
  std::int64_t coefficient;
};

struct Linear {
  std::vector<Term> terms;  ///< ordered by `compare` of atoms, no zero coefficient
  std::int64_t constant = 0;
  bool overflow = false;  ///< a coefficient left int64: only good modulo 2^64

  static Linear of_constant(std::int64_t value) { return {{}, value, false}; }
  static Linear of_atom(const Expr& atom, std::int64_t coefficient = 1) {
    return {{{atom, coefficient}}, 0, false};
  }

  bool is_constant() const { return terms.empty(); }
  bool is_zero() const { return terms.empty() && constant == 0; }
  /// A lone atom, with coefficient 1 and no constant.
  bool is_atom() const { return terms.size() == 1 && constant == 0 && terms[0].coefficient == 1; }
  bool is_monomial() const { return terms.size() == 1 && constant == 0; }
  std::uint64_t hash() const;
  bool operator==(const Linear& other) const;
};

/// a + scale * b
Linear add(const Linear& a, const Linear& b, std::int64_t scale = 1);
Linear scaled(const Linear& a, std::int64_t scale);
inline Linear subtract(const Linear& a, const Linear& b) { return add(a, b, -1); }
inline Linear shifted(Linear a, std::int64_t constant) {
  a.overflow |= __builtin_add_overflow(a.constant, constant, &a.constant);
  return a;
}
Linear multiply(const Linear& a, const Linear& b);
/// The terms and constant divided by a common divisor.
Linear divided_exactly(const Linear& a, std::int64_t divisor);
/// `l` without term `i`.
Linear without(const Linear& l, std::size_t i);
/// `l` with a form in place of the atom of term `i`.
Linear replaced(const Linear& l, std::size_t i, const Linear& by);
/// Greatest common divisor of the coefficients of the terms (not the constant); 0 without terms.
std::int64_t coefficient_gcd(const Linear& l);

/// True for types whose arithmetic is brought into linear form: scalar Int(32) and Int(64).
inline bool has_linear_form(Type t) { return t.is_int() && t.bits >= 32 && t.is_scalar(); }

/// Reads sums, differences and products. `simplify_atom`, if given, is applied to what is no sum and may
/// return one.
using AtomMap = std::function<Expr(const Expr&)>;
Linear linear_of(const Expr& e, const AtomMap& simplify_atom = nullptr);
/// The form as an expression of the type; products by a common factor are gathered: x*s + y*s as (x + y)*s.
Expr to_expr(const Linear& l, Type type);

/// The factors of a product atom, in order; an atom that is no product is its own factor.
std::vector<Expr> factors_of(const Expr& atom);
Expr product_of(const std::vector<Expr>& factors, Type type);
/// `factors` less one occurrence of each of `divisor`; nullopt if it is not contained.
std::optional<std::vector<Expr>> remove_factors(std::vector<Expr> factors, const std::vector<Expr>& divisor);

/// Pairs of terms that are one: (p / d) * d + p % d, (p / d) % m * d + p % d, min(p, q) + max(p, q).
Linear merge_pairs(Linear l);

// Checked and floored integer arithmetic
std::int64_t floor_div(std::int64_t a, std::int64_t b);
std::int64_t floor_mod(std::int64_t a, std::int64_t b);
inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }
std::int64_t gcd(std::int64_t a, std::int64_t b);
inline bool mul_overflows(std::int64_t a, std::int64_t b, std::int64_t& out) {
  return __builtin_mul_overflow(a, b, &out);
}
inline bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t& out) {
  return __builtin_add_overflow(a, b, &out);
}

}  // namespace calotype::ir::algebra
