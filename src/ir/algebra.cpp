// Algebra: one simplifier for many questions.
#include <algorithm>

#include "ir/simplify_rules.h"

namespace calotype::ir {

namespace {

/// So many conditions side by side are remembered.
constexpr std::size_t kMostConditions = 64;

}  // namespace

/// What has been found out under some conditions, and under those and one more.
class Algebra::Tables {
 public:
  explicit Tables(algebra::Simplifier s) : simplifier(std::move(s)) {}

  /// Those under one condition more, or null.
  Tables* find(const Expr& condition) {
    const auto found =
        std::find_if(under_.begin(), under_.end(), [&](const auto& u) { return equal(u.first, condition); });
    if (found == under_.end()) return nullptr;
    if (!found->second->is_weary()) return found->second.get();
    under_.erase(found);
    return nullptr;
  }
  Tables* add(const Expr& condition, algebra::Simplifier s) {
    if (under_.size() == kMostConditions) under_.erase(under_.begin());
    return under_.emplace_back(condition, std::make_unique<Tables>(std::move(s))).second.get();
  }

  /// What was found with few steps left is no answer for a question that has all of its own.
  bool is_weary() const { return simplifier.analysis().is_weary(); }

  algebra::Simplifier simplifier;
  /// Of the root: those that have been made.
  algebra::ExprMap<std::shared_ptr<const algebra::Assumption>> assumptions;

 private:
  std::vector<std::pair<Expr, std::unique_ptr<Tables>>> under_;
};

Algebra::Algebra(const Facts& facts) : facts_(facts) {}
Algebra::~Algebra() = default;

// Names and loops come one after the other, few of them known before anything is asked about them; branches
// come and go, many under a condition that was there before.
Algebra::Tables& Algebra::tables() {
  bool holds = root_ && !root_->is_weary();
  for (; changes_seen_ < facts_.changed.size(); ++changes_seen_)
    holds = holds && !root_->simplifier.analysis().ranges()->rests_on(facts_.changed[changes_seen_]);
  if (!holds)
    root_ = std::make_unique<Tables>(algebra::Simplifier(std::make_shared<algebra::Ranges>(facts_)));
  Tables* at = root_.get();
  std::vector<std::shared_ptr<const algebra::Assumption>> assumed;
  for (const Expr& condition : facts_.conditions) {
    const auto& ranges = root_->simplifier.analysis().ranges();
    std::shared_ptr<const algebra::Assumption>& assumption = root_->assumptions[condition];
    if (!assumption) assumption = algebra::Simplifier::assumption(ranges, condition);
    assumed.push_back(assumption);
    Tables* under = at->find(condition);
    at = under ? under : at->add(condition, algebra::Simplifier(ranges, assumed));
  }
  at->simplifier.analysis().rest();
  return *at;
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
