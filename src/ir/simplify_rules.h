#pragma once
// The simplifier: one object for one call of `simplify`, with memo tables. Its rules are methods, grouped by
// operation in the files simplify_*.cpp. A rule takes simplified operands; the driver applies rules until the
// expression no longer changes.

#include <span>

#include "ir/simplify_analysis.h"

namespace calotype::ir::algebra {

/// A condition, simplified, and what searches have found out on the way, which stays found where it is
/// assumed: a comparison that says what the condition says is left to `known_condition`.
struct Assumption {
  Expr condition;
  Analysis::Findings found;
};

class Simplifier {
 public:
  explicit Simplifier(const Facts& facts);
  /// Under these assumptions, not the conditions of the facts.
  explicit Simplifier(std::shared_ptr<Ranges> ranges,
                      std::span<const std::shared_ptr<const Assumption>> assumptions = {});

  static std::shared_ptr<const Assumption> assumption(const std::shared_ptr<Ranges>& ranges,
                                                      const Expr& condition);

  Expr run(const Expr& e);
  Analysis& analysis() { return analysis_; }
  const Analysis& analysis() const { return analysis_; }

 private:
  friend class Lanes;

  void assume(const std::shared_ptr<const Assumption>& assumption);
  Expr step(const Expr& e);
  Expr step_scalar(const Expr& e);
  Expr variable(const Expr& e);
  Expr with_simple_args(const Expr& e);

  // simplify_linear.cpp
  Expr sum(const Expr& e);
  /// The simplified form `e` as a linear form of its type: only what may be taken apart without wrapping.
  Linear typed(const Expr& e);
  Linear merge_symbolic(Linear l);

  // simplify_divide.cpp
  Expr divide(const Expr& e);
  Expr modulo(const Expr& e);
  Expr truncating(const Expr& e);
  Expr divide_by_constant(Type type, const Linear& p, std::int64_t d);
  Expr divide_extreme(Type type, const Linear& p, std::int64_t d);
  Expr modulo_constant(Type type, const Linear& p, std::int64_t d);
  Expr divide_by_symbol(const Expr& e);
  Expr modulo_symbol(const Expr& e);

  // simplify_minmax.cpp
  Expr min_max(const Expr& e);
  void operands_of(Op op, const Expr& e, std::vector<Expr>& out, bool simplified);
  void drop_dominated(Op op, std::vector<Expr>& operands);
  bool absorb(Op op, Type type, std::vector<Expr>& operands);
  Expr pull_common(Op op, Type type, std::vector<Expr> operands);

  // simplify_logic.cpp
  Expr comparison(const Expr& e);
  Expr ordered(const Expr& e, const Expr& a, const Expr& b);
  Expr equality(const Expr& e, const Expr& a, const Expr& b);
  Expr below_zero_form(Linear nonnegative, Type type);
  Expr connective(const Expr& e);
  bool reduce_pairs(Op op, std::vector<Expr>& operands);
  Expr negation(const Expr& e);
  Expr select(const Expr& e);
  Expr known_condition(const Expr& e);

  // simplify_scalar.cpp
  Expr cast(const Expr& e);
  Expr bits(const Expr& e);
  Expr plain_arithmetic(const Expr& e);
  Expr other(const Expr& e);

  // simplify_vector.cpp
  Expr vector(const Expr& e);
  Expr from_vector(const Expr& e);
  SymbolPtr lane_symbol(Type type, int lanes, std::uint64_t number);
  SymbolPtr opaque_symbol(const Expr& vector);

  Analysis analysis_;
  std::vector<Expr> known_true_;
  ExprMap<Expr> memo_;
  std::vector<SymbolPtr> lanes_;
  ExprMap<SymbolPtr> opaque_;  ///< scalars that stand for vectors
};

// interval.cpp
Interval bounds_in_order(Interval r, Scope scope, Simplifier& simplifier);
Interval interval_union(const Interval& a, const Interval& b, Simplifier& simplifier);

}  // namespace calotype::ir::algebra
