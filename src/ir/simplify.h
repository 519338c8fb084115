#pragma once
// Algebra on symbolic integer expressions: what bounds inference, allocation sizes and index arithmetic rest
// on.

#include <map>
#include <memory>
#include <optional>

#include "ir/expr_node.h"

namespace calotype::ir {

/// A closed interval of integer expressions; an undefined end is unbounded.
struct Interval {
  Expr min, max;
  static Interval point(Expr e) { return {e, e}; }
  bool bounded() const { return min.defined() && max.defined(); }
  bool is_point() const { return min.defined() && max.defined() && equal(min, max); }
};

/// What is known about symbols: for each an interval (whose ends may name other symbols), and a modulus:
/// the symbol is a multiple of `multiple`. Also the value of Let symbols, looked through where that helps.
struct Facts {
  struct Known {
    Interval range;
    std::int64_t multiple = 1;
    Expr value;  ///< for Let symbols: what it equals, or undefined
  };
  std::map<SymbolPtr, Known, bool (*)(const SymbolPtr&, const SymbolPtr&)> symbols{
      [](const SymbolPtr& a, const SymbolPtr& b) { return a->unique < b->unique; }};
  /// Conditions known to hold (Bool expressions, as `x < W`), the last assumed last.
  std::vector<Expr> conditions;
  /// The symbols (`Symbol::unique`) of which something else became known, each time that it did: by this an
  /// Algebra sees whether what it has found out still holds.
  std::vector<std::uint64_t> changed;

  void set_range(const SymbolPtr& s, Expr min, Expr max) {
    Interval& range = symbols[s].range;
    if (!same(range.min, min) || !same(range.max, max)) changed.push_back(s->unique);
    range = {std::move(min), std::move(max)};
  }
  void set_value(const SymbolPtr& s, Expr value) {
    Expr& known = symbols[s].value;
    if (!same(known, value)) changed.push_back(s->unique);
    known = std::move(value);
  }
  void set_multiple(const SymbolPtr& s, std::int64_t multiple) {
    symbols[s].multiple = multiple;
    changed.push_back(s->unique);
  }
  void assume(Expr condition) { conditions.push_back(std::move(condition)); }
  void drop_assumption() { conditions.pop_back(); }
  const Known* find(const SymbolPtr& s) const {
    auto it = symbols.find(s);
    return it == symbols.end() ? nullptr : &it->second;
  }

 private:
  static bool same(const Expr& a, const Expr& b) {
    return a.defined() == b.defined() && (!a.defined() || equal(a, b));
  }
};

/// An equal expression that is no more complex: constants folded by the language's semantics, linear integer
/// terms collected and ordered, min/max/select/div/mod reduced where the facts allow. Integer arithmetic on
/// Int(64) is taken as not overflowing; narrower types and floats are only rewritten where exact. Idempotent.
Expr simplify(const Expr& e, const Facts& facts = {});

/// True if the facts prove that the condition holds (false: not proved).
bool prove(const Expr& condition, const Facts& facts = {});
/// True if the facts prove a == b.
bool prove_equal(const Expr& a, const Expr& b, const Facts& facts = {});

/// Constant bounds of an integer expression under the facts, with correlated terms cancelled:
/// the upper bound of min(a + 7, M) - a is 7. nullopt: none found.
std::optional<std::int64_t> constant_lower_bound(const Expr& e, const Facts& facts = {});
std::optional<std::int64_t> constant_upper_bound(const Expr& e, const Facts& facts = {});
/// The largest constant d such that e is provably a multiple of d (1 if unknown, 0 for the constant 0).
std::int64_t known_multiple(const Expr& e, const Facts& facts = {});

/// Symbolic bounds of an integer expression when each symbol of `scope` ranges over its interval and all
/// others are fixed. Exact for affine expressions, min, max, clamp, floor division and modulo by positive
/// constants; loads and calls give the bounds of their type for at most 16 bits, unbounded otherwise.
using Scope = std::map<SymbolPtr, Interval, bool (*)(const SymbolPtr&, const SymbolPtr&)>;
Scope make_scope();
Interval bounds_of(const Expr& e, const Scope& scope, const Facts& facts = {});
/// The same of an interval: from the least that its lower end is to the largest that its upper end is.
Interval bounds_of(const Interval& interval, const Scope& scope, const Facts& facts = {});
Interval interval_union(const Interval& a, const Interval& b, const Facts& facts = {});
Interval interval_intersection(const Interval& a, const Interval& b, const Facts& facts = {});

/// The questions above one after the other about the same facts: what one finds out serves the next, under
/// the same conditions, until something else becomes known of a symbol that an answer rests on. Where many
/// questions are asked this is several times faster.
class Algebra {
 public:
  explicit Algebra(const Facts& facts);  ///< which must outlive it, and not be assigned to
  ~Algebra();

  Expr simplify(const Expr& e);
  Interval bounds_of(const Expr& e, const Scope& scope);
  Interval bounds_of(const Interval& interval, const Scope& scope);
  Interval interval_union(const Interval& a, const Interval& b);

 private:
  class Tables;
  Tables& tables();

  const Facts& facts_;
  std::size_t changes_seen_ = 0;  ///< of the facts, those that have been looked at
  std::unique_ptr<Tables> root_;  ///< without conditions; those under conditions hang on it
};

/// If e == coefficient * symbol + rest with rest free of the symbol and a constant coefficient: those two.
struct LinearIn {
  std::int64_t coefficient;
  Expr rest;
};
std::optional<LinearIn> linear_in(const Expr& e, const SymbolPtr& symbol);

/// The range of `symbol` in which the condition surely holds, if the condition is solvable for it
/// (comparisons linear in the symbol, conjunctions of them): the interval may be empty; nullopt: not
/// solvable.
std::optional<Interval> solve_for(const Expr& condition, const SymbolPtr& symbol);

}  // namespace calotype::ir
