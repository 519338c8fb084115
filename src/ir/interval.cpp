// Symbolic bounds of expressions when symbols range over intervals, by interval arithmetic on linear forms.
#include <algorithm>
#include <bit>

#include "ir/interval_bounds.h"

namespace calotype::ir {

namespace algebra {

Interval Bounds::of_type(Type t) const {
  const Type e = t.element();
  if (!e.is_integral()) return {};
  if (e.bits <= 16) return {make_int(e, e.min_int()), make_int(e, e.max_int())};
  return e.is_uint() ? Interval{make_zero(e), {}} : Interval{};
}

/// An end that the intervals do not give, or only as one that the type has, may follow from the range of
/// constants, by which the simplifier takes a clamp away that does nothing: what it needed is then known here
/// too. A range so wide that only a type of more than 16 bits says it is none.
Interval Bounds::completed(const Expr& e, Interval i) {
  constexpr std::int64_t kWidest = UINT16_MAX;
  const Type type = e->type.element();
  if (!type.is_integral()) return i;
  const auto constant = [](const Expr& end) { return end.defined() ? as_int(end) : std::nullopt; };
  const std::optional<std::int64_t> low = constant(i.min), high = constant(i.max);
  if (i.bounded() && !low && !high) return i;
  const Range r = simplifier_.analysis().range(e);
  const bool wraps = type == UInt(64);  // its upper half is negative here
  if (i.min.defined() ? low && *low < r.lo && !(wraps && *low < 0) : r.lo >= -kWidest)
    i.min = make_int(type, r.lo);
  if (i.max.defined() ? high && *high > r.hi : r.hi <= kWidest) i.max = make_int(type, r.hi);
  return i;
}

Interval Bounds::compute(const Expr& e) {
  if (e->type.is_vector() && e->op != Op::Ramp && e->op != Op::Broadcast) return of_type(e->type);
  if (!e->type.is_integral()) return floats(e);
  switch (info(e->op).group) {
    case OpGroup::arith:
      return arithmetic(e);
    case OpGroup::compare:
    case OpGroup::logic:
    case OpGroup::memory:
      return of_type(e->type);
    default:
      break;
  }
  switch (e->op) {
    case Op::Variable:
      return scope_.find(symbol_of(e))->second;
    case Op::Select:
      return selected(e);
    case Op::Cast:
      return cast(e);
    case Op::Likely:
    case Op::Broadcast:
    case Op::Strict:
      return of(e->args[0]);
    case Op::Let:
      return let(e);
    case Op::Ramp:
      return ramp(e);
    case Op::Lane:
    case Op::ReduceMin:
    case Op::ReduceMax:
      return of(e->args[0]);
    case Op::Shr: {
      const Interval p = of(e->args[0]);
      const auto by = as_int(e->args[1]);
      if (!by || *by < 0) return of_type(e->type);
      return {ends(Op::Shr, p.min, e->args[1]), ends(Op::Shr, p.max, e->args[1])};
    }
    case Op::Popcount:
    case Op::CountLeadingZeros:
    case Op::CountTrailingZeros:
      return {make_zero(e->type), make_int(e->type, e->type.bits)};
    case Op::Require:
      return of(e->args[1]);
    case Op::Print:
      return of(e->args[0]);
    case Op::PromiseClamped:
      return {of(e->args[1]).min, of(e->args[2]).max};
    case Op::BitAnd:
      return common_bits(e);
    case Op::BitOr:
    case Op::BitXor:
      return any_bits(e);
    default:
      return of_type(e->type);
  }
}

Interval Bounds::arithmetic(const Expr& e) {
  const Type type = e->type;
  switch (e->op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Neg:
      return sum(e);
    case Op::Min:
    case Op::Max: {
      const Interval a = of(e->args[0]), b = of(e->args[1]);
      Interval r{ends(e->op, a.min, b.min), ends(e->op, a.max, b.max)};
      // One operand alone bounds a minimum from above and a maximum from below.
      Expr& loose = e->op == Op::Min ? r.max : r.min;
      if (!loose.defined())
        loose = e->op == Op::Min ? (a.max.defined() ? a.max : b.max) : (a.min.defined() ? a.min : b.min);
      return r;
    }
    case Op::Div:
    case Op::TruncDiv:
      return divided(of(e->args[0]), of(e->args[1]), type);
    case Op::Mod:
    case Op::TruncMod:
      return modulo(e, of(e->args[0]), of(e->args[1]));
    case Op::Abs: {
      const Interval a = of(e->args[0]);
      const auto as_type = [&](const Expr& x) { return simplifier_.run(make(Op::Abs, type, {x})); };
      if (nonnegative(a.min)) return {as_type(a.min), a.max.defined() ? as_type(a.max) : Expr()};
      Expr high = a.bounded() ? node(Op::Max, as_type(a.min), as_type(a.max)) : Expr();
      return {make_zero(type), high.defined() ? high : of_type(type).max};
    }
    default:
      return of_type(type);
  }
}

Interval Bounds::divided(const Interval& p, const Interval& d, Type type) {
  if (positive(d.min)) {
    // The larger divisor brings the quotient nearer to zero.
    const Expr& low_by = nonnegative(p.min) ? d.max : d.min;
    const Expr& high_by = nonnegative(p.max) ? d.min : d.max;
    Interval r;
    if (d.is_point() || nonnegative(p.min) || nonpositive(p.min))
      r.min = ends(Op::Div, p.min, low_by);
    else if (p.min.defined())
      r.min = ends(Op::Min, node(Op::Div, p.min, d.min), ends(Op::Div, p.min, d.max));
    if (d.is_point() || nonnegative(p.max) || nonpositive(p.max))
      r.max = ends(Op::Div, p.max, high_by);
    else if (p.max.defined())
      r.max = ends(Op::Max, node(Op::Div, p.max, d.min), ends(Op::Div, p.max, d.max));
    if (!r.min.defined() && nonnegative(p.min)) r.min = make_zero(type);
    return r;
  }
  if (d.is_point() && positive(simplifier_.run(make(Op::Sub, type, {make_zero(type), d.min}))) &&
      type.is_int())
    return {ends(Op::Div, p.max, d.min), ends(Op::Div, p.min, d.min)};
  return of_type(type);
}

Interval Bounds::modulo(const Expr& e, const Interval& p, const Interval& d) {
  const Type type = e->type;
  const Expr small = nonnegative(p.min) ? p.max : Expr();  // by whatever divisor
  if (!d.max.defined() || !nonnegative(d.min))
    return {make_zero(type), small.defined() ? small : of_type(type).max};
  const Expr last = node(Op::Max, node(Op::Sub, d.max, make_one(type)), make_zero(type));
  if (d.is_point() && p.bounded() && positive(d.min)) {
    // Within one period of the divisor the order is kept.
    const Expr low = node(Op::Div, p.min, d.min), high = node(Op::Div, p.max, d.min);
    if (equal(low, high)) return {node(Op::Mod, p.min, d.min), node(Op::Mod, p.max, d.min)};
  }
  Interval r{make_zero(type), last};
  if (small.defined()) r.max = node(Op::Min, last, small);
  // A multiple of g stays one: the last is short of the divisor by g.
  if (const auto c = as_int(d.max); c && d.is_point() && *c > 0) {
    const std::int64_t g = gcd(simplifier_.analysis().multiple(e->args[0]), *c);
    if (g > 1) r.max = node(Op::Min, r.max, make_int(type, *c - g));
  }
  return r;
}

/// Bounds of an arm of a select, with the scope narrowed by what its condition says of a symbol.
Interval Bounds::arm(const Expr& value, const Expr& condition, bool holds) {
  if (!in_scope(value) || refinements_ >= kMaxRefinements) return of(value);
  const Expr c = holds ? condition : simplifier_.run(make(Op::Not, Bool(), {condition}));
  Scope narrowed = scope_;
  bool changed = false;
  for (auto& [symbol, interval] : narrowed) {
    if (!uses(c, symbol) || symbol->type != Int(64)) continue;
    auto solved = solve_for(c, symbol);
    if (!solved) continue;
    for (const Expr& end : {solved->min, solved->max})
      if (end.defined() && in_scope(end)) solved.reset();
    if (!solved) continue;
    interval = interval_intersection(interval, *solved, simplifier_.analysis().facts());
    changed = true;
  }
  if (!changed) return of(value);
  Bounds inner(simplifier_, narrowed);
  inner.refinements_ = refinements_ + 1;
  return inner.of(value);
}

Interval Bounds::selected(const Expr& e) {
  const Interval a = arm(e->args[1], e->args[0], true), b = arm(e->args[2], e->args[0], false);
  return {ends(Op::Min, a.min, b.min), ends(Op::Max, a.max, b.max)};
}

Interval Bounds::cast(const Expr& e) {
  const Expr& a = e->args[0];
  const Type to = e->type, from = a->type;
  if (to.is_bool()) return of_type(to);
  const Interval p = of(a);
  const auto converted = [&](const Expr& x) {
    return x.defined() ? simplifier_.run(make(Op::Cast, to, {x})) : Expr();
  };
  if (from.is_float()) {
    // Truncation keeps the order, saturation too.
    const Interval t = of_type(to);
    return {p.min.defined() ? converted(p.min) : t.min, p.max.defined() ? converted(p.max) : t.max};
  }
  if (from.bits < to.bits && (from.is_uint() || to.is_int())) {
    const Interval t = of_type(from);
    Interval r{converted(p.min), converted(p.max)};
    if (!r.min.defined()) r.min = converted(t.min);
    return r;
  }
  const Range all = Range::of_type(to);
  Analysis& analysis = simplifier_.analysis();
  // Values that are known to be small stay what they are.
  if (from == UInt(64) && to == Int(64) && analysis.range(a).hi != Range::kHighest)
    return {converted(p.min), converted(p.max)};
  if (!p.bounded() || from == UInt(64)) return of_type(to);
  const Range low = analysis.bounds(analysis.view(p.min)), high = analysis.bounds(analysis.view(p.max));
  if (low.lo < all.lo || high.hi > all.hi) return of_type(to);
  return {converted(p.min), converted(p.max)};
}

/// What two values have in common is no more than either that is not negative.
Interval Bounds::common_bits(const Expr& e) {
  Interval r = of_type(e->type);
  bool found = false;
  for (const Expr& a : e->args) {
    const Interval p = of(a);
    if (!nonnegative(p.min)) continue;
    r.min = make_zero(e->type);
    if (!p.max.defined()) continue;
    r.max = found ? node(Op::Min, r.max, p.max) : p.max;
    found = true;
  }
  return r;
}

/// Bits of either of two values that are not negative: none above the highest that they may have.
Interval Bounds::any_bits(const Expr& e) {
  std::int64_t highest = 0;
  for (const Expr& a : e->args) {
    const Interval p = of(a);
    const std::int64_t most = p.max.defined() ? as_int(p.max).value_or(-1) : -1;
    if (!nonnegative(p.min) || most < 0) return of_type(e->type);
    highest |= most;
  }
  const auto ones = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(highest) + 1) - 1);
  return {make_zero(e->type), make_int(e->type, ones)};
}

/// Floats are bounded by constants alone (a lookup is clamped before it is cast), where no NaN can pass.
Interval Bounds::floats(const Expr& e) {
  const auto constant = [&](const Expr& x) -> Interval {
    const auto c = as_float(x);
    if (c && *c == *c) return Interval::point(x);
    return is_const(x) || !in_scope(x) ? Interval{} : of(x);
  };
  if (e->op != Op::Min && e->op != Op::Max) return {};
  const Interval a = constant(e->args[0]), b = constant(e->args[1]);
  Interval r{ends(e->op, a.min, b.min), ends(e->op, a.max, b.max)};
  const auto is_number = [](const Interval& i) { return i.bounded(); };
  if (e->op == Op::Min) {
    if (!r.max.defined() && is_number(b)) r.max = b.max;
    if (!r.max.defined() && is_number(a)) r.max = a.max;
  } else {
    if (!r.min.defined() && is_number(b)) r.min = b.min;
    if (!r.min.defined() && is_number(a)) r.min = a.min;
  }
  return r;
}

Interval Bounds::let(const Expr& e) {
  Scope inner_scope = scope_;
  inner_scope[symbol_of(e)] = of(e->args[0]);
  Bounds inner(simplifier_, inner_scope);
  inner.refinements_ = refinements_;
  return inner.of(e->args[1]);
}

Interval Bounds::ramp(const Expr& e) {
  const Expr &base = e->args[0], &stride = e->args[1];
  if (!base->type.is_scalar()) return of_type(e->type);
  const Type type = base->type;
  const Expr last = make(Op::Mul, type, {stride, make_int(type, e->type.lanes - 1)});
  const Interval first = of(base), other = of(simplifier_.run(make(Op::Add, type, {base, last})));
  return {ends(Op::Min, first.min, other.min), ends(Op::Max, first.max, other.max)};
}

namespace {

/// The scope symbols whose intervals other scope symbols' intervals do not name: to be eliminated first.
Scope innermost(const Scope& scope) {
  Scope first = make_scope();
  for (const auto& [symbol, interval] : scope) {
    const auto names = [&, &s = symbol](const auto& entry) {
      if (entry.first == s) return false;
      for (const Expr& end : {entry.second.min, entry.second.max})
        if (end.defined() && uses(end, s)) return true;
      return false;
    };
    if (std::none_of(scope.begin(), scope.end(), names)) first.emplace(symbol, interval);
  }
  return first;
}

/// An end that names no symbol of the scope is the expression itself. Promises have had their use there, and
/// what is required is checked, and what is printed is, where the value is computed.
Expr without_promises(const Expr& e) {
  const auto is_promise = [](const Expr& n) {
    return is(n, Op::PromiseClamped) || is(n, Op::Require) || is(n, Op::Print);
  };
  if (!e.defined() || !any_of(e, is_promise)) return e;
  return rewrite(e, [&](const Expr& n) {
    return is(n, Op::Require) ? n->args[1] : is_promise(n) ? n->args[0] : n;
  });
}

}  // namespace

Interval bounds_in_order(Interval r, Scope scope, Simplifier& simplifier) {
  const bool same = r.is_point();
  if (r.min.defined()) r.min = simplifier.run(r.min);
  if (same) r.max = r.min;
  if (!same && r.max.defined()) r.max = simplifier.run(r.max);
  do {  // once without symbols too: what is read from memory has a range
    Scope first = innermost(scope);
    if (first.empty()) first = scope;  // intervals that name each other: what they name counts as fixed
    Bounds bounds(simplifier, first);
    const bool point = r.is_point();
    if (r.min.defined()) {
      Interval low = bounds.of(r.min);
      if (point) r.max = low.max;
      r.min = low.min;
    }
    if (!point && r.max.defined()) r.max = bounds.of(r.max).max;
    for (const auto& entry : first) scope.erase(entry.first);
  } while (!scope.empty());
  return {without_promises(r.min), without_promises(r.max)};
}

Interval interval_union(const Interval& a, const Interval& b, Simplifier& s) {
  const auto both = [&](Op op, const Expr& x, const Expr& y) {
    return x.defined() && y.defined() ? s.run(make(op, x->type, {x, y})) : Expr();
  };
  return {both(Op::Min, a.min, b.min), both(Op::Max, a.max, b.max)};
}

}  // namespace algebra

using algebra::Simplifier;

Scope make_scope() {
  return Scope([](const SymbolPtr& a, const SymbolPtr& b) { return a->unique < b->unique; });
}

Interval bounds_of(const Expr& e, const Scope& scope, const Facts& facts) {
  return bounds_of(Interval::point(e), scope, facts);
}

Interval bounds_of(const Interval& interval, const Scope& scope, const Facts& facts) {
  Simplifier simplifier(facts);
  return algebra::bounds_in_order(interval, scope, simplifier);
}

Interval interval_union(const Interval& a, const Interval& b, const Facts& facts) {
  Simplifier simplifier(facts);
  return algebra::interval_union(a, b, simplifier);
}

Interval interval_intersection(const Interval& a, const Interval& b, const Facts& facts) {
  Simplifier s(facts);
  const auto either = [&](Op op, const Expr& x, const Expr& y) {
    if (x.defined() && y.defined()) return s.run(make(op, x->type, {x, y}));
    return x.defined() ? x : y;
  };
  return {either(Op::Max, a.min, b.min), either(Op::Min, a.max, b.max)};
}

}  // namespace calotype::ir
