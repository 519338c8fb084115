// Ranges of constants by interval arithmetic, known multiples, and which symbols an expression is about.
#include <algorithm>

#include "ir/simplify_analysis.h"

namespace calotype::ir::algebra {

namespace {

/// How far facts that name other symbols are followed.
constexpr int kMaxFactsDepth = 6;

/// What is left of a range of ideal values once they have wrapped to the type.
Range wrapped(const Range& ideal, Type type) {
  if (type == Int(64)) return ideal;
  if (type == UInt(64) && ideal.hi == Range::kHighest) return Range::of_type(type);
  const Range all = Range::of_type(type);
  return ideal.within(all) ? ideal : all;
}

}  // namespace

const Facts::Known* Ranges::known(const SymbolPtr& s) {
  const auto [it, fresh] = known_.try_emplace(s->unique, nullptr);
  if (fresh) it->second = facts_.find(s);
  return it->second;
}

Range Ranges::range(const Expr& e) {
  if (!e.defined()) return {};
  if (auto c = as_int(e))
    return e->type.element() == UInt(64) && *c < 0 ? Range{0, Range::kHighest} : Range::point(*c);
  if (!e->type.is_integral()) return {};
  if (auto it = ranges_.find(e); it != ranges_.end()) return it->second;
  // Facts may name each other in circles: meanwhile the type bounds the symbol.
  if (e->op == Op::Variable) ranges_.emplace(e, Range::of_type(e->type));
  const Range r = intersect(compute_range(e), Range::of_type(e->type));
  ranges_.insert_or_assign(e, r);
  return r;
}

Range Ranges::range(const Linear& l) {
  if (l.overflow) return {};
  Range r = Range::point(l.constant);
  for (const Term& t : l.terms) r = r + scaled(range(t.atom), t.coefficient);
  return r;
}

Range Ranges::compute_range(const Expr& e) {
  switch (info(e->op).group) {
    case OpGroup::leaf:
      return variable_range(symbol_of(e), e->type);
    case OpGroup::arith:
      return wrapped(arithmetic_range(e), e->type);
    case OpGroup::compare:
    case OpGroup::logic:
      return {0, 1};
    default:
      break;
  }
  const auto arg = [&](std::size_t i) { return range(e->args[i]); };
  switch (e->op) {
    case Op::BitAnd: {
      const Range a = arg(0), b = arg(1);
      if (a.lo < 0 && b.lo < 0) return {};
      return {0, a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : std::min(a.hi, b.hi)};
    }
    case Op::Shr:
      if (arg(1).lo >= 0 && arg(0).lo >= 0) return {0, arg(0).hi};
      return {};
    case Op::Popcount:
    case Op::CountLeadingZeros:
    case Op::CountTrailingZeros:
      return {0, e->type.bits};
    case Op::PromiseClamped:
      return min(max(arg(0), Range{arg(1).lo, Range::kHighest}), Range{Range::kLowest, arg(2).hi});
    case Op::Select:
      return unite(arg(1), arg(2));
    case Op::Cast:
      return keeps_value(e->args[0], e->type) ? arg(0) : Range{};
    case Op::Likely:
    case Op::Strict:
    case Op::Broadcast:
    case Op::Lane:
    case Op::ReduceMin:
    case Op::ReduceMax:
      return arg(0);
    case Op::Ramp: {
      const int lanes = e->type.lanes / std::max<int>(e->args[0]->type.lanes, 1);
      return wrapped(arg(0) + arg(1) * Range{0, lanes - 1}, e->type);
    }
    case Op::Print:
      return arg(0);
    case Op::Let:
    case Op::Require:
      return arg(1);
    default:
      return {};
  }
}

Range Ranges::arithmetic_range(const Expr& e) {
  if (e->op == Op::Mul) return product_range(e);
  const Range a = range(e->args[0]);
  const Range b = e->args.size() > 1 ? range(e->args[1]) : Range{};
  switch (e->op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a + -b;
    case Op::TruncDiv:
    case Op::Div:
      return floor_div(a, b);
    case Op::TruncMod:
    case Op::Mod:
      return euclid_mod(a, b);
    case Op::Min:
      return min(a, b);
    case Op::Max:
      return max(a, b);
    case Op::Neg:
      return -a;
    case Op::Abs:
      return max(max(a, -a), Range::point(0));
    default:
      return {};
  }
}

Range Ranges::product_range(const Expr& e) {
  const Range p = range(e->args[0]) * range(e->args[1]);
  return equal(e->args[0], e->args[1]) ? max(p, Range::point(0)) : p;
}

Range Ranges::variable_range(const SymbolPtr& symbol, Type type) {
  if (const auto lane = lanes_.find(symbol->unique); lane != lanes_.end()) return {0, lane->second - 1};
  Range r = Range::of_type(type);
  const Facts::Known* facts = known(symbol);
  if (!facts) return r;
  Range given;  // of a loop that never runs they contradict each other
  if (facts->range.min.defined()) given.lo = range(facts->range.min).lo;
  if (facts->range.max.defined()) given.hi = range(facts->range.max).hi;
  r = intersect(r, given);
  if (facts->value.defined()) r = intersect(r, range(facts->value));
  return r;
}

bool Ranges::keeps_value(const Expr& e, Type to) {
  if (!e->type.is_integral() || to.is_bool()) return false;
  const Range r = range(e);
  // The values of UInt(64) beyond int64 count as infinite.
  if (e->type.element() == UInt(64) && r.hi == Range::kHighest) return to.element() == UInt(64);
  return r.within(Range::of_type(to));
}

bool Ranges::fits(const Linear& l, Type type) {
  if (type == Int(64) || l.is_atom()) return true;
  return !l.overflow && range(l).within(Range::of_type(type));
}

Linear Ranges::view(const Expr& e) {
  if (!has_linear_form(e->type)) return linear_of(e);
  Linear l = merge_pairs(linear_of(e));
  return fits(l, e->type) ? l : Linear::of_atom(e);
}

std::int64_t Ranges::multiple(const Linear& l) {
  std::int64_t g = l.constant;
  for (const Term& t : l.terms) {
    std::int64_t m;
    if (mul_overflows(multiple(t.atom), t.coefficient, m)) m = t.coefficient;
    g = gcd(g, m);
  }
  return g == INT64_MIN ? 1 : std::abs(g);
}

std::int64_t Ranges::multiple(const Expr& e) {
  if (auto c = as_int(e)) return *c == INT64_MIN ? 1 : std::abs(*c);
  if (!e->type.is_integral() || !e->type.is_scalar()) return 1;
  if (auto it = multiples_.find(e); it != multiples_.end()) return it->second;
  if (e->op == Op::Variable) multiples_.emplace(e, 1);
  const std::int64_t m = compute_multiple(e);
  multiples_.insert_or_assign(e, m);
  return m;
}

std::int64_t Ranges::compute_multiple(const Expr& e) {
  const auto arg = [&](std::size_t i) { return multiple(e->args[i]); };
  switch (e->op) {
    case Op::Variable: {
      const Facts::Known* facts = known(symbol_of(e));
      if (!facts) return 1;
      const std::int64_t by_value = facts->value.defined() ? multiple(facts->value) : 1;
      if (by_value == 0) return 0;
      const std::int64_t both = std::max<std::int64_t>(facts->multiple, 1) / gcd(facts->multiple, by_value);
      std::int64_t m;
      return mul_overflows(both, by_value, m) ? by_value : m;
    }
    case Op::Add:
    case Op::Sub:
    case Op::Neg: {
      const Linear l = view(e);
      return l.is_atom() ? 1 : multiple(l);
    }
    case Op::Mul: {
      std::int64_t m;
      const bool wraps = e->type != Int(64) &&
                         !(product_range(e).bounded() && product_range(e).within(Range::of_type(e->type)));
      return wraps || mul_overflows(arg(0), arg(1), m) ? 1 : m;
    }
    case Op::Min:
    case Op::Max:
      return gcd(arg(0), arg(1));
    case Op::Select:
      return gcd(arg(1), arg(2));
    case Op::Div:
    case Op::TruncDiv: {
      const auto d = as_int(e->args[1]);
      return d && *d > 0 && arg(0) % *d == 0 ? arg(0) / *d : 1;
    }
    case Op::Mod:
    case Op::TruncMod:
      return as_int(e->args[1]) ? gcd(arg(0), arg(1)) : 1;
    case Op::Likely:
      return arg(0);
    case Op::Cast:
      return keeps_value(e->args[0], e->type) ? arg(0) : 1;
    default:
      return 1;
  }
}

std::uint64_t Ranges::mask(const Expr& e) {
  if (is_const(e)) return 0;
  if (auto it = masks_.find(e); it != masks_.end()) return it->second;
  if (e->op == Op::Variable) {
    const SymbolPtr& s = symbol_of(e);
    const Facts::Known* facts = known(s);
    if (!facts || !facts->value.defined()) return mask_bit(s->unique);
    // What a name stands for may cancel against the terms beside it.
    masks_.emplace(e, mask_bit(s->unique));
    const std::uint64_t m = mask_bit(s->unique) | mask(facts->value);
    masks_.insert_or_assign(e, m);
    return m;
  }
  std::uint64_t m = info(e->op).group == OpGroup::memory || !e->type.is_integral() ? mask_bit(e->hash) : 0;
  for (const Expr& a : e->args) m |= mask(a);
  masks_.emplace(e, m);
  return m;
}

std::uint64_t Ranges::reach(const Expr& e, int depth) {
  if (is_const(e)) return 0;
  if (auto it = reaches_.find(e); it != reaches_.end()) return it->second;
  std::uint64_t m = mask(e);
  if (e->op == Op::Variable) {
    const Facts::Known* facts = known(symbol_of(e));
    if (facts && depth < kMaxFactsDepth)
      for (const Expr& end : {facts->range.min, facts->range.max, facts->value})
        if (end.defined()) m |= reach(end, depth + 1);
  } else {
    for (const Expr& a : e->args) m |= reach(a, depth);
  }
  reaches_.emplace(e, m);
  return m;
}

Expr Ranges::symbolic_end(const SymbolPtr& s, bool lower_end) {
  const Facts::Known* facts = known(s);
  if (!facts) return {};
  const Expr& end = lower_end ? facts->range.min : facts->range.max;
  return end.defined() && !is_const(end) ? end : Expr();
}

int Ranges::rank(const SymbolPtr& s) {
  const auto found = ranks_.find(s->unique);
  return found != ranks_.end() ? found->second : ranks_.emplace(s->unique, compute_rank(s, 0)).first->second;
}

int Ranges::compute_rank(const SymbolPtr& s, int depth) {
  int r = 0;
  for (bool lower_end : {true, false}) {
    Expr end = symbolic_end(s, lower_end);
    if (!end.defined() || depth >= kMaxFactsDepth) continue;
    for (const SymbolPtr& inner : free_symbols(end)) r = std::max(r, 1 + compute_rank(inner, depth + 1));
  }
  return r;
}

}  // namespace calotype::ir::algebra
