// Algebra: one simplifier for many questions.
#include <algorithm>

#include "ir/simplify_rules.h"

namespace calotype::ir {

/// What has been found out under some facts.
struct Algebra::Tables {
  explicit Tables(const Facts& facts)
      : changes(facts.changes), assumptions(facts.assumptions), simplifier(facts) {}

  /// Whether they hold for the facts as they were before the last assumptions.
  bool hold_before(const Facts& facts) const {
    return changes == facts.changes && assumptions.size() <= facts.assumptions.size() &&
           std::equal(assumptions.begin(), assumptions.end(), facts.assumptions.begin()) && !is_weary();
  }
  /// What was found with few steps left is no answer for a question that has all of its own.
  bool is_weary() const { return simplifier.analysis().is_weary(); }

  const std::uint64_t changes;
  const std::vector<std::uint64_t> assumptions;
  algebra::Simplifier simplifier;
};

Algebra::Algebra(const Facts& facts) : facts_(facts) {}
Algebra::~Algebra() = default;

// Assumptions come and go as branches do, so tables from before one are good again after it.
Algebra::Tables& Algebra::tables() {
  while (!tables_.empty() && !tables_.back()->hold_before(facts_)) tables_.pop_back();
  if (tables_.empty() || tables_.back()->assumptions.size() < facts_.assumptions.size())
    tables_.push_back(std::make_unique<Tables>(facts_));
  tables_.back()->simplifier.analysis().rest();
  return *tables_.back();
}

Expr Algebra::simplify(const Expr& e) { return is_const(e) ? e : tables().simplifier.run(e); }

Interval Algebra::bounds_of(const Expr& e, const Scope& scope) {
  return bounds_of(Interval::point(e), scope);
}

Interval Algebra::bounds_of(const Interval& interval, const Scope& scope) {
  return algebra::bounds_in_order(interval, scope, tables().simplifier);
}

Interval Algebra::interval_union(const Interval& a, const Interval& b) {
  return algebra::interval_union(a, b, tables().simplifier);
}

}  // namespace calotype::ir
