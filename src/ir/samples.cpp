// Points where the facts hold: each symbol has a value within its interval and a multiple of what it is known
// to be, those with a value their value, and loads whatever their type holds. Nothing wraps at them: what
// would, and what is computed with floats, is not known.
#include "ir/samples.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/simplify_analysis.h"

namespace calotype::ir::algebra {

namespace {

/// How a point chooses within an interval, and how far from its finite end where it has but one.
enum class Choice : std::uint8_t { Least, Most, Any };
struct Point {
  Choice bounded;
  std::int64_t reach;  ///< 0: the end itself; else up to so far from it
};
/// Indices at either end of their loops in images small and large, and what lies between.
constexpr std::array<Point, Samples::kCount> kPoints{{{Choice::Least, 0},
                                                      {Choice::Most, 1 << 22},
                                                      {Choice::Least, 1 << 22},
                                                      {Choice::Most, 0},
                                                      {Choice::Any, 1 << 13},
                                                      {Choice::Any, 1 << 24},
                                                      {Choice::Most, 1 << 7},
                                                      {Choice::Any, 1 << 5}}};

std::uint64_t random_of(std::uint64_t seed, std::size_t point) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15u + (point + 1) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 31);
}

/// A multiple of `multiple` within the range, if there is one.
std::optional<std::int64_t> chosen(Range r, std::int64_t multiple, std::uint64_t seed, std::size_t point) {
  const Point& how = kPoints[point];
  const std::uint64_t random = random_of(seed, point);
  const auto away =
      how.reach == 0 ? 0 : static_cast<std::int64_t>(random % static_cast<std::uint64_t>(how.reach));
  constexpr std::int64_t kFar = std::int64_t{1} << 40;  // where sums and products of a few still fit
  const bool low = r.lo > -kFar, high = r.hi < kFar;
  std::int64_t v = 0;
  if (low && high) {
    if (r.lo > r.hi) return std::nullopt;
    const auto count = static_cast<std::uint64_t>(r.hi - r.lo) + 1;
    v = how.bounded == Choice::Least  ? r.lo
        : how.bounded == Choice::Most ? r.hi
                                      : r.lo + static_cast<std::int64_t>(random % count);
  } else if (low || high) {
    v = low ? r.lo + away : r.hi - away;
  } else {
    v = random % 2 ? away : -away;
  }
  if (multiple > 1) {
    v = floor_div(v, multiple) * multiple;
    if (v < r.lo) v += multiple;
  }
  return v < r.lo || v > r.hi ? std::nullopt : std::optional(v);
}

/// One operation on values, as far as it is exact.
std::optional<std::int64_t> exact(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t r;
  switch (op) {
    case Op::Add:
      return add_overflows(a, b, r) ? std::nullopt : std::optional(r);
    case Op::Sub:
      return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
    case Op::Mul:
      return mul_overflows(a, b, r) ? std::nullopt : std::optional(r);
    case Op::Div:
      return b > 0 ? std::optional(floor_div(a, b)) : std::nullopt;
    case Op::Mod:
      return b > 0 ? std::optional(floor_mod(a, b)) : std::nullopt;
    case Op::TruncDiv:
      return a >= 0 && b > 0 ? std::optional(a / b) : std::nullopt;
    case Op::TruncMod:
      return a >= 0 && b > 0 ? std::optional(a % b) : std::nullopt;
    case Op::Min:
      return std::min(a, b);
    case Op::Max:
      return std::max(a, b);
    case Op::Eq:
      return a == b;
    case Op::Ne:
      return a != b;
    case Op::Lt:
      return a < b;
    case Op::Le:
      return a <= b;
    case Op::And:
      return (a & b & 1) != 0;
    case Op::Or:
      return ((a | b) & 1) != 0;
    case Op::BitAnd:
      return a >= 0 && b >= 0 ? std::optional(a & b) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> exact(Op op, std::int64_t a) {
  switch (op) {
    case Op::Neg:
      return a == INT64_MIN ? std::nullopt : std::optional(-a);
    case Op::Not:
      return a == 0;
    case Op::Abs:
      return a == INT64_MIN ? std::nullopt : std::optional(a < 0 ? -a : a);
    case Op::Likely:
    case Op::Cast:
      return a;
    default:
      return std::nullopt;
  }
}

bool is_whole(Type t) { return t.is_scalar() && t.is_integral() && t != UInt(64); }

}  // namespace

std::pair<Samples::Set, Samples::Set> Samples::signs(const Linear& l) {
  if (l.overflow) return {0, 0};
  std::array<std::int64_t, kCount> sum;
  sum.fill(l.constant);
  Set known = kAll, below = 0;
  for (const Term& t : l.terms) {
    const Values& v = values(t.atom);
    known &= v.known;
    if (known == 0) return {0, 0};
    for (std::size_t k = 0; k < kCount; ++k) {
      std::int64_t product;
      if (mul_overflows(v.at[k], t.coefficient, product) || add_overflows(sum[k], product, sum[k]))
        known &= static_cast<Set>(~(1u << k));
    }
  }
  for (std::size_t k = 0; k < kCount; ++k)
    if (sum[k] < 0) below |= static_cast<Set>(1u << k);
  return {static_cast<Set>(known & ~below), static_cast<Set>(known & below)};
}

const Samples::Values& Samples::values(const Expr& e) {
  if (const auto found = values_.find(e); found != values_.end()) return found->second;
  // Facts may name each other in circles: of those nothing is known.
  values_.emplace(e, Values{});
  const Values v = compute(e);
  return values_.insert_or_assign(e, v).first->second;
}

Samples::Values Samples::compute(const Expr& e) {
  if (!is_whole(e->type)) return {};
  if (const auto c = as_int(e)) {
    Values v{.known = kAll};
    v.at.fill(*c);
    return v;
  }
  if (e->op == Op::Variable) return variable(e);
  if (info(e->op).group == OpGroup::memory) return element(e);
  if (e->op == Op::Select) return selected(e);
  if (e->args.empty() || e->args.size() > 2) return {};
  for (const Expr& a : e->args)
    if (!is_whole(a->type)) return {};
  const Values a = values(e->args[0]), b = e->args.size() == 2 ? values(e->args[1]) : a;
  const Range all = Range::of_type(e->type);
  Values v;
  for (std::size_t k = 0; k < kCount; ++k) {
    if (!((a.known & b.known) >> k & 1)) continue;
    const auto r = e->args.size() == 2 ? exact(e->op, a.at[k], b.at[k]) : exact(e->op, a.at[k]);
    if (!r || *r < all.lo || *r > all.hi) continue;
    v.at[k] = *r;
    v.known |= static_cast<Set>(1u << k);
  }
  return v;
}

Samples::Values Samples::variable(const Expr& e) {
  const SymbolPtr& symbol = symbol_of(e);
  const Facts::Known* facts = ranges_.known(symbol);
  const Range outer = ranges_.range(e);
  Values low, high, value;
  if (facts && facts->range.min.defined()) low = values(facts->range.min);
  if (facts && facts->range.max.defined()) high = values(facts->range.max);
  if (facts && facts->value.defined()) value = values(facts->value);
  Values v;
  for (std::size_t k = 0; k < kCount; ++k) {
    const Set bit = static_cast<Set>(1u << k);
    Range r = outer;
    if (facts && facts->range.min.defined()) {
      if (!(low.known & bit)) continue;
      r.lo = std::max(r.lo, low.at[k]);
    }
    if (facts && facts->range.max.defined()) {
      if (!(high.known & bit)) continue;
      r.hi = std::min(r.hi, high.at[k]);
    }
    const std::int64_t multiple = facts ? std::max<std::int64_t>(facts->multiple, 1) : 1;
    std::optional<std::int64_t> c;
    if (facts && facts->value.defined()) {
      if (!(value.known & bit)) continue;
      const std::int64_t given = value.at[k];
      if (given >= r.lo && given <= r.hi && given % multiple == 0) c = given;
    } else {
      c = chosen(r, multiple, symbol->unique, k);
    }
    if (!c) continue;
    v.at[k] = *c;
    v.known |= bit;
  }
  return v;
}

Samples::Values Samples::element(const Expr& e) {
  Values v;
  for (std::size_t k = 0; k < kCount; ++k)
    if (const auto c = chosen(ranges_.range(e), 1, e->hash, k)) {
      v.at[k] = *c;
      v.known |= static_cast<Set>(1u << k);
    }
  return v;
}

Samples::Values Samples::selected(const Expr& e) {
  const Values condition = values(e->args[0]), a = values(e->args[1]), b = values(e->args[2]);
  Values v;
  for (std::size_t k = 0; k < kCount; ++k) {
    const Values& arm = condition.at[k] != 0 ? a : b;
    if (!((condition.known & arm.known) >> k & 1)) continue;
    v.at[k] = arm.at[k];
    v.known |= static_cast<Set>(1u << k);
  }
  return v;
}

}  // namespace calotype::ir::algebra
