// Symbolic bounds of expressions when symbols range over intervals, by interval arithmetic on linear forms.
#include <algorithm>
#include <bit>

#include "ir/simplify_rules.h"

namespace calotype::ir {

namespace {

using namespace algebra;

constexpr int kMaxRefinements = 4;  ///< nested selects whose condition narrows the scope
constexpr int kMaxDistribution = 4;

class Bounds {
 public:
  Bounds(Simplifier& simplifier, const Scope& scope) : simplifier_(simplifier), scope_(scope) {}

  Interval of(const Expr& e) {
    if (!in_scope(e)) return Interval::point(e);
    if (auto it = memo_.find(e); it != memo_.end()) return it->second;
    Interval i = completed(e, compute(e));
    for (Expr* end : {&i.min, &i.max})
      if (end->defined()) *end = simplifier_.run(*end);
    memo_.emplace(e, i);
    return i;
  }

 private:
  bool in_scope(const Expr& e) {
    if (is_const(e)) return false;
    if (e->op == Op::Variable) return scope_.count(symbol_of(e)) != 0;
    if (info(e->op).group == OpGroup::memory) return true;  // an element may be anything
    if (auto it = in_scope_.find(e); it != in_scope_.end()) return it->second;
    const bool found =
        std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return in_scope(a); });
    in_scope_.emplace(e, found);
    return found;
  }

  Interval compute(const Expr& e);
  Interval completed(const Expr& e, Interval i);
  Interval arithmetic(const Expr& e);
  Interval sum(const Expr& e);
  Interval of_linear(const Linear& l, Type type, int depth);
  std::optional<Interval> distributed(const Linear& l, Type type, int depth);
  std::optional<Interval> divided_together(const Linear& l, Type type, int depth);
  bool shares_symbols(const Expr& a, const Expr& b);
  Interval of_product(const Expr& atom);
  Interval divided(const Interval& p, const Interval& d, Type type);
  Interval modulo(const Expr& e, const Interval& p, const Interval& d);
  Interval selected(const Expr& e);
  Interval arm(const Expr& value, const Expr& condition, bool holds);
  Interval cast(const Expr& e);
  Interval common_bits(const Expr& e);
  Interval any_bits(const Expr& e);
  Interval floats(const Expr& e);
  Interval let(const Expr& e);
  Interval ramp(const Expr& e);

  Interval of_type(Type t) const;
  Interval scaled_by(const Interval& a, const Expr& factor, Type type);
  Interval multiplied(const Interval& a, const Interval& b, Type type);

  Expr node(Op op, const Expr& a, const Expr& b) { return simplifier_.run(make(op, a->type, {a, b})); }
  /// The operation on two ends; undefined if one of them is.
  Expr ends(Op op, const Expr& a, const Expr& b) {
    return a.defined() && b.defined() ? node(op, a, b) : Expr();
  }
  bool nonnegative(const Expr& e) {
    return e.defined() && simplifier_.analysis().nonnegative(simplifier_.analysis().view(e));
  }
  bool positive(const Expr& e) {
    return e.defined() && simplifier_.analysis().positive(simplifier_.analysis().view(e));
  }
  bool nonpositive(const Expr& e) {
    return e.defined() &&
           simplifier_.analysis().nonnegative(algebra::scaled(simplifier_.analysis().view(e), -1));
  }

  Simplifier& simplifier_;
  const Scope& scope_;
  ExprMap<Interval> memo_;
  ExprMap<bool> in_scope_;
  int refinements_ = 0;
};

Interval Bounds::of_type(Type t) const {
  const Type e = t.element();
  if (!e.is_integral()) return {};
  if (e.bits <= 16) return {make_int(e, e.min_int()), make_int(e, e.max_int())};
  return e.is_uint() ? Interval{make_zero(e), {}} : Interval{};
}

/// An end that the intervals do not give may follow from the range of constants, by which the simplifier
/// takes a clamp away that does nothing. One so wide that only a type of more than 16 bits says it is none.
Interval Bounds::completed(const Expr& e, Interval i) {
  constexpr std::int64_t kWidest = UINT16_MAX;
  const Type type = e->type.element();
  if (i.bounded() || !type.is_integral()) return i;
  const Range r = simplifier_.analysis().range(e);
  if (!i.min.defined() && r.lo >= -kWidest) i.min = make_int(type, r.lo);
  if (!i.max.defined() && r.hi <= kWidest) i.max = make_int(type, r.hi);
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

Interval Bounds::sum(const Expr& e) {
  const Type type = e->type;
  if (type == Int(64)) return of_linear(linear_of(e), type, 0);
  // In a type that wraps: the same in Int(64), if all values fit.
  const Type wide = Int(64);
  if (type == UInt(64)) return of_type(type);
  Interval r;
  const auto widened = [&](const Interval& i) {
    const auto w = [&](const Expr& x) {
      return x.defined() ? simplifier_.run(make(Op::Cast, wide, {x})) : Expr();
    };
    return Interval{w(i.min), w(i.max)};
  };
  const Interval a = widened(of(e->args[0]));
  const Interval b = e->args.size() > 1 ? widened(of(e->args[1])) : Interval{};
  if (e->op == Op::Add) r = {ends(Op::Add, a.min, b.min), ends(Op::Add, a.max, b.max)};
  if (e->op == Op::Sub) r = {ends(Op::Sub, a.min, b.max), ends(Op::Sub, a.max, b.min)};
  if (e->op == Op::Neg) r = {ends(Op::Sub, index(0), a.max), ends(Op::Sub, index(0), a.min)};
  if (e->op == Op::Mul) r = multiplied(a, b, wide);
  if (!r.bounded()) return of_type(type);
  Analysis& analysis = simplifier_.analysis();
  const Range all{type.min_int(), type.max_int()};
  const Range low = analysis.bounds(analysis.view(r.min)), high = analysis.bounds(analysis.view(r.max));
  if (low.lo < all.lo || high.hi > all.hi || low.hi > all.hi || high.lo < all.lo) return of_type(type);
  const auto narrowed = [&](const Expr& x) { return simplifier_.run(make(Op::Cast, type, {x})); };
  return {narrowed(r.min), narrowed(r.max)};
}

/// Each atom of a linear form on its own; those that share symbols with a minimum or maximum move into it
/// first.
Interval Bounds::of_linear(const Linear& l, Type type, int depth) {
  if (auto d = distributed(l, type, depth)) return *d;
  if (auto d = divided_together(l, type, depth)) return *d;
  Linear fixed = Linear::of_constant(l.constant);
  std::vector<Term> moving;
  for (const Term& t : l.terms) (in_scope(t.atom) ? moving : fixed.terms).push_back(t);
  Interval r = Interval::point(to_expr(fixed, type));
  for (const Term& t : moving) {
    Interval a = is(t.atom, Op::Mul) ? of_product(t.atom) : of(t.atom);
    a = scaled_by(a, make_int(type, t.coefficient), type);
    r = {ends(Op::Add, r.min, a.min), ends(Op::Add, r.max, a.max)};
  }
  return r;
}

std::optional<Interval> Bounds::distributed(const Linear& l, Type type, int depth) {
  if (depth >= kMaxDistribution) return std::nullopt;
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Term& t = l.terms[i];
    if ((!is(t.atom, Op::Min) && !is(t.atom, Op::Max)) || !in_scope(t.atom)) continue;
    const Linear rest = without(l, i);
    if (std::none_of(rest.terms.begin(), rest.terms.end(),
                     [&](const Term& u) { return shares_symbols(t.atom, u.atom); }))
      continue;
    const Interval a = of_linear(add(rest, linear_of(t.atom->args[0]), t.coefficient), type, depth + 1);
    const Interval b = of_linear(add(rest, linear_of(t.atom->args[1]), t.coefficient), type, depth + 1);
    const Op op = (t.coefficient > 0) == is(t.atom, Op::Min) ? Op::Min : Op::Max;
    Interval r{ends(op, a.min, b.min), ends(op, a.max, b.max)};
    if (op == Op::Min && !r.max.defined()) r.max = a.max.defined() ? a.max : b.max;
    if (op == Op::Max && !r.min.defined()) r.min = a.min.defined() ? a.min : b.min;
    return r;
  }
  return std::nullopt;
}

bool Bounds::shares_symbols(const Expr& a, const Expr& b) {
  return in_scope(b) && any_of(a, [&](const Expr& s) {
           return is(s, Op::Variable) && in_scope(s) && uses(b, symbol_of(s));
         });
}

/// x + min(y - c*x, z)/c is (c*x + min(y - c*x, z))/c: terms that share symbols with a minimum or maximum in
/// a quotient move into it, where they cancel.
std::optional<Interval> Bounds::divided_together(const Linear& l, Type type, int depth) {
  if (depth >= kMaxDistribution || type != Int(64)) return std::nullopt;
  for (std::size_t i = 0; i < l.terms.size(); ++i) {
    const Term& t = l.terms[i];
    const auto by = is(t.atom, Op::Div) ? as_int(t.atom->args[1]) : std::nullopt;
    const auto bends = [](const Expr& n) { return is(n, Op::Min) || is(n, Op::Max); };
    if (!by || *by <= 0 || !in_scope(t.atom) || !any_of(t.atom->args[0], bends)) continue;
    Linear numerator = linear_of(t.atom->args[0]), rest = Linear::of_constant(l.constant);
    bool moved = false;
    for (std::size_t j = 0; j < l.terms.size(); ++j) {
      const Term& u = l.terms[j];
      std::int64_t factor = 0;
      if (j == i) continue;
      if (shares_symbols(t.atom, u.atom) && u.coefficient % t.coefficient == 0 &&
          !mul_overflows(u.coefficient / t.coefficient, *by, factor)) {
        numerator = add(numerator, Linear::of_atom(u.atom), factor);
        moved = true;
      } else {
        rest.terms.push_back(u);
      }
    }
    if (!moved || numerator.overflow) continue;
    const Interval divisor = Interval::point(t.atom->args[1]);
    const Interval a = scaled_by(divided(of_linear(numerator, type, depth + 1), divisor, type),
                                 make_int(type, t.coefficient), type);
    const Interval b = of_linear(rest, type, depth + 1);
    return Interval{ends(Op::Add, a.min, b.min), ends(Op::Add, a.max, b.max)};
  }
  return std::nullopt;
}

Interval Bounds::scaled_by(const Interval& a, const Expr& factor, Type type) {
  const auto times = [&](const Expr& x) { return x.defined() ? node(Op::Mul, x, factor) : Expr(); };
  if (is_zero(factor)) return Interval::point(make_zero(type));
  if (nonnegative(factor)) return {times(a.min), times(a.max)};
  if (nonpositive(factor)) return {times(a.max), times(a.min)};
  const Expr x = times(a.min), y = times(a.max);
  return {ends(Op::Min, x, y), ends(Op::Max, x, y)};
}

Interval Bounds::multiplied(const Interval& a, const Interval& b, Type type) {
  if (b.is_point()) return scaled_by(a, b.min, type);
  if (a.is_point()) return scaled_by(b, a.min, type);
  if (nonnegative(a.min) && nonnegative(b.min))
    return {node(Op::Mul, a.min, b.min), ends(Op::Mul, a.max, b.max)};
  if (!a.bounded() || !b.bounded()) return {};
  const Interval low = scaled_by(a, b.min, type), high = scaled_by(a, b.max, type);
  return {node(Op::Min, low.min, high.min), node(Op::Max, low.max, high.max)};
}

Interval Bounds::of_product(const Expr& atom) {
  const std::vector<Expr> factors = factors_of(atom);
  std::vector<Expr> fixed;
  Interval r;
  bool first = true;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (!in_scope(factors[i])) {
      fixed.push_back(factors[i]);
      continue;
    }
    const Interval f = of(factors[i]);
    const bool square = i + 1 < factors.size() && equal(factors[i], factors[i + 1]);
    r = first ? f : multiplied(r, f, atom->type);
    if (square) {
      Interval s = multiplied(f, f, atom->type);
      if (!nonnegative(s.min)) s.min = make_zero(atom->type);
      r = first ? s : multiplied(multiplied(r, f, atom->type), f, atom->type);
      ++i;
    }
    first = false;
  }
  return fixed.empty() ? r : scaled_by(r, product_of(fixed, atom->type), atom->type);
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

namespace algebra {

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

Scope make_scope() {
  return Scope([](const SymbolPtr& a, const SymbolPtr& b) { return a->unique < b->unique; });
}

Interval bounds_of(const Expr& e, const Scope& scope, const Facts& facts) {
  return bounds_of(Interval::point(e), scope, facts);
}

Interval bounds_of(const Interval& interval, const Scope& scope, const Facts& facts) {
  Simplifier simplifier(facts);
  return bounds_in_order(interval, scope, simplifier);
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
