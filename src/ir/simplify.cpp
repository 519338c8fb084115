// The simplifier's driver: memo table, repetition to a fixed point, dispatch by operation, and the public
// functions that rest on it.
#include "ir/simplify.h"

#include <algorithm>

#include "ir/simplify_rules.h"

namespace calotype::ir {

namespace algebra {

namespace {

/// Rules undo each other in no known case; this bounds the damage of an unknown one.
constexpr int kMaxRounds = 6;

}  // namespace

Simplifier::Simplifier(const Facts& facts) : Simplifier(std::make_shared<Ranges>(facts)) {
  std::vector<std::shared_ptr<const Assumption>> assumptions;
  for (const Expr& c : facts.conditions)
    if (c.defined()) assumptions.push_back(assumption(analysis_.ranges(), c));
  for (auto a = assumptions.rbegin(); a != assumptions.rend(); ++a) assume(*a);
}

Simplifier::Simplifier(std::shared_ptr<Ranges> ranges,
                       std::span<const std::shared_ptr<const Assumption>> assumptions)
    : analysis_(std::move(ranges)) {
  for (auto a = assumptions.rbegin(); a != assumptions.rend(); ++a) assume(*a);
}

std::shared_ptr<const Assumption> Simplifier::assumption(const std::shared_ptr<Ranges>& ranges,
                                                         const Expr& condition) {
  Simplifier s(ranges);
  s.analysis_.search_everything();
  Expr simple = s.run(condition);
  return std::make_shared<const Assumption>(Assumption{std::move(simple), s.analysis_.take_findings()});
}

void Simplifier::assume(const std::shared_ptr<const Assumption>& assumption) {
  analysis_.add_findings({assumption, &assumption->found});
  std::vector<Expr> pending{assumption->condition};
  while (!pending.empty()) {
    const Expr c = pending.back();
    pending.pop_back();
    if (is(c, Op::And)) pending.insert(pending.end(), c->args.begin(), c->args.end());
    if (is(c, Op::Likely)) pending.push_back(c->args[0]);
    if (c->type.is_scalar() && !is_const(c)) known_true_.push_back(c);
    if (c->type.is_scalar() && !is(c, Op::And) && !is(c, Op::Likely)) analysis_.assume(c);
  }
}

Expr Simplifier::run(const Expr& e) {
  if (is_const(e)) return e;
  if (e->op == Op::Variable) return variable(e);
  if (auto it = memo_.find(e); it != memo_.end()) return it->second;
  Expr r = step(e);
  for (int round = 1; round < kMaxRounds && !r.same_as(e) && !is_const(r) && !is(r, Op::Variable); ++round) {
    if (auto it = memo_.find(r); it != memo_.end()) {
      r = it->second;
      break;
    }
    Expr next = step(r);
    if (next.same_as(r) || equal(next, r)) break;
    r = std::move(next);
  }
  if (equal(r, e)) r = e;
  memo_.emplace(e, r);
  memo_.emplace(r, r);
  return r;
}

Expr Simplifier::step(const Expr& e) {
  if (e->type.is_vector()) return vector(e);
  Expr r = step_scalar(e);
  return r->type.is_bool() && !known_true_.empty() ? known_condition(r) : r;
}

Expr Simplifier::step_scalar(const Expr& e) {
  const bool integral = e->type.is_integral();
  switch (e->op) {
    case Op::Const:
      return e;
    case Op::Variable:
      return variable(e);
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Neg:
      return has_linear_form(e->type) ? sum(e) : plain_arithmetic(with_simple_args(e));
    case Op::Div:
      return integral ? divide(with_simple_args(e)) : plain_arithmetic(with_simple_args(e));
    case Op::Mod:
      return integral ? modulo(with_simple_args(e)) : plain_arithmetic(with_simple_args(e));
    case Op::TruncDiv:
    case Op::TruncMod:
      return truncating(with_simple_args(e));
    case Op::Min:
    case Op::Max:
      return integral ? min_max(e) : plain_arithmetic(with_simple_args(e));
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le:
      return comparison(with_simple_args(e));
    case Op::And:
    case Op::Or:
      return connective(e);
    case Op::Not:
      return negation(with_simple_args(e));
    case Op::Select:
      return select(with_simple_args(e));
    case Op::Cast:
      return cast(with_simple_args(e));
    case Op::BitAnd:
    case Op::BitOr:
    case Op::BitXor:
    case Op::BitNot:
    case Op::Shl:
    case Op::Shr:
      return bits(with_simple_args(e));
    case Op::Lane:
    case Op::ReduceAdd:
    case Op::ReduceMin:
    case Op::ReduceMax:
      return from_vector(with_simple_args(e));
    default:
      return other(with_simple_args(e));
  }
}

Expr Simplifier::variable(const Expr& e) {
  if (e->type == Bool() && !known_true_.empty()) return known_condition(e);
  if (!e->type.is_integral() || !e->type.is_scalar() || e->type == UInt(64)) return e;
  const Range r = analysis_.range(e);
  return r.is_point() ? make_int(e->type, r.lo) : e;
}

Expr Simplifier::with_simple_args(const Expr& e) {
  return map_args(e, [&](const Expr& a) { return run(a); });
}

}  // namespace algebra

namespace {

/// Proofs asked for by name may take longer than those inside the simplifier.
constexpr int kProofEffort = 250;

}  // namespace

Expr simplify(const Expr& e, const Facts& facts) {
  if (is_const(e)) return e;
  return algebra::Simplifier(facts).run(e);
}

bool prove(const Expr& condition, const Facts& facts) {
  algebra::Simplifier s(facts);
  s.analysis().set_effort(kProofEffort);
  return is_int(s.run(condition), 1);
}

bool prove_equal(const Expr& a, const Expr& b, const Facts& facts) {
  if (a.same_as(b) || equal(a, b)) return true;
  if (a->type != b->type) return false;
  algebra::Simplifier s(facts);
  s.analysis().set_effort(kProofEffort);
  return is_int(s.run(make(Op::Eq, Bool(a->type.lanes), {a, b})), 1);
}

std::optional<std::int64_t> constant_lower_bound(const Expr& e, const Facts& facts) {
  algebra::Simplifier s(facts);
  s.analysis().set_effort(kProofEffort);
  const Expr simple = s.run(e);
  const auto r =
      simple->type.is_scalar() ? s.analysis().bounds(s.analysis().view(simple)) : s.analysis().range(simple);
  return r.lo == algebra::Range::kLowest ? std::nullopt : std::optional(r.lo);
}

std::optional<std::int64_t> constant_upper_bound(const Expr& e, const Facts& facts) {
  algebra::Simplifier s(facts);
  s.analysis().set_effort(kProofEffort);
  const Expr simple = s.run(e);
  const auto r =
      simple->type.is_scalar() ? s.analysis().bounds(s.analysis().view(simple)) : s.analysis().range(simple);
  return r.hi == algebra::Range::kHighest ? std::nullopt : std::optional(r.hi);
}

std::int64_t known_multiple(const Expr& e, const Facts& facts) {
  algebra::Simplifier s(facts);
  return s.analysis().multiple(s.run(e));
}

}  // namespace calotype::ir
