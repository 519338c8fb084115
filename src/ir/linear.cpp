// Linear forms: reading them from expressions, arithmetic on them, pairs of terms that cancel.
#include "ir/linear.h"

#include <algorithm>
#include <numeric>

namespace calotype::ir::algebra {

namespace {

/// Products of sums are multiplied out up to this many terms; larger ones stay atoms.
constexpr std::size_t kMaxProductTerms = 12;
/// Sums of sums are opened if they have no more operations than this, those of shared nodes counted each
/// time: a value may have been inlined into itself many times over, and its sums read from many sides.
constexpr int kMaxOpened = 256;

std::int64_t checked_mul(std::int64_t a, std::int64_t b, bool& overflow) {
  std::int64_t r;
  overflow |= __builtin_mul_overflow(a, b, &r);
  return r;
}

std::int64_t checked_add(std::int64_t a, std::int64_t b, bool& overflow) {
  std::int64_t r;
  overflow |= __builtin_add_overflow(a, b, &r);
  return r;
}

void sort_and_merge(Linear& l) {
  auto& t = l.terms;
  if (t.size() > 1)
    std::stable_sort(t.begin(), t.end(),
                     [](const Term& a, const Term& b) { return compare(a.atom, b.atom) < 0; });
  std::size_t n = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (n > 0 && equal(t[n - 1].atom, t[i].atom)) {
      t[n - 1].coefficient = checked_add(t[n - 1].coefficient, t[i].coefficient, l.overflow);
      continue;
    }
    if (n > 0 && t[n - 1].coefficient == 0) --n;
    if (n != i) t[n] = std::move(t[i]);
    ++n;
  }
  if (n > 0 && t[n - 1].coefficient == 0) --n;
  t.resize(n);
}

Expr multiply_atoms(const Expr& a, const Expr& b) {
  if (!is(a, Op::Mul) && !is(b, Op::Mul))
    return compare(a, b) <= 0 ? make(Op::Mul, a->type, {a, b}) : make(Op::Mul, a->type, {b, a});
  std::vector<Expr> f = factors_of(a);
  for (const Expr& e : factors_of(b)) f.push_back(e);
  std::stable_sort(f.begin(), f.end(), [](const Expr& x, const Expr& y) { return compare(x, y) < 0; });
  return product_of(f, a->type);
}

/// Reads one expression, adding scaled terms to a form that is sorted at the end.
class Reader {
 public:
  Reader(Type type, const AtomMap& map) : type_(type), map_(map) {}

  Linear read(const Expr& e) {
    Linear out;
    accumulate(e, 1, out, map_ != nullptr);
    wrap(out);
    sort_and_merge(out);
    wrap(out);
    return out;
  }

 private:
  static bool is_sum(const Expr& e) {
    return is(e, Op::Add) || is(e, Op::Sub) || is(e, Op::Neg) || is(e, Op::Mul);
  }

  /// Counts the operations of a sum; false as soon as there are more than `left`.
  static bool counts_up_to(const Expr& e, int& left) {
    if (!is_sum(e)) return true;
    if (--left < 0) return false;
    return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return counts_up_to(a, left); });
  }
  static bool is_large(const Expr& e) {
    int left = kMaxOpened;
    return !counts_up_to(e, left);
  }

  /// `small`: e is part of a sum that is known not to be large.
  void accumulate(const Expr& e, std::int64_t scale, Linear& out, bool map, bool small = false) {
    if (e->type != type_) return leaf(e, scale, out, map);
    if (is(e, Op::Const)) {
      out.constant = checked_add(out.constant, checked_mul(*as_int(e), scale, out.overflow), out.overflow);
      return;
    }
    if (!is_sum(e)) return leaf(e, scale, out, map);
    small = small || !is_large(e);
    if (is(e, Op::Mul)) return product(e, scale, out, map, small);
    const std::int64_t negative = checked_mul(scale, -1, out.overflow);
    part(e->args[0], is(e, Op::Neg) ? negative : scale, out, map, small);
    if (e->args.size() == 2) part(e->args[1], is(e, Op::Sub) ? negative : scale, out, map, small);
  }

  /// An operand of a sum: of a large one another large sum stays as it is.
  void part(const Expr& e, std::int64_t scale, Linear& out, bool map, bool small) {
    if (small || !is_large(e)) return accumulate(e, scale, out, map, true);
    const Expr s = map ? map_(e) : e;
    if (is_large(s))
      out.terms.push_back({s, scale});
    else
      accumulate(s, scale, out, false, true);
  }

  void leaf(const Expr& e, std::int64_t scale, Linear& out, bool map) {
    if (!map) {
      out.terms.push_back({e, scale});
      return;
    }
    Expr s = map_(e);
    if (is_const(s) || is_sum(s))
      accumulate(s, scale, out, false);
    else
      out.terms.push_back({std::move(s), scale});
  }

  void product(const Expr& e, std::int64_t scale, Linear& out, bool map, bool small) {
    for (int i = 0; i < 2; ++i)
      if (auto c = as_int(e->args[i]); c && distributes_over(e->args[1 - i], *c))
        return part(e->args[1 - i], checked_mul(scale, *c, out.overflow), out, map, small);
    if (!map && is(e->args[0], Op::Variable) && is(e->args[1], Op::Variable)) {
      out.terms.push_back({multiply_atoms(e->args[0], e->args[1]), scale});
      return;
    }
    Linear a, b;
    part(e->args[0], 1, a, map, small);
    part(e->args[1], 1, b, map, small);
    for (Linear* l : {&a, &b}) wrap(*l), sort_and_merge(*l), wrap(*l);
    Linear p;
    if (multiplies_out(a, b)) {
      p = multiply(a, b);
    } else {
      Expr x = to_expr(a, type_), y = to_expr(b, type_);
      if (compare(y, x) < 0 || a.is_constant()) std::swap(x, y);
      if (auto c = as_int(y))
        p = Linear::of_atom(x, *c);
      else
        p = Linear::of_atom(multiply_atoms(x, y));
    }
    out.overflow |= p.overflow;
    out.constant = checked_add(out.constant, checked_mul(p.constant, scale, out.overflow), out.overflow);
    for (Term& t : p.terms)
      out.terms.push_back({std::move(t.atom), checked_mul(t.coefficient, scale, out.overflow)});
  }

  /// Int(32) carries data as well as indices: a factor outside a sum stays outside there.
  bool multiplies_out(const Linear& a, const Linear& b) const {
    const auto count = [](const Linear& l) { return l.terms.size() + (l.constant != 0); };
    if (type_.bits == 64) return count(a) <= 1 || count(b) <= 1 || count(a) * count(b) <= kMaxProductTerms;
    if (a.is_constant() || b.is_constant()) return a.terms.size() + b.terms.size() <= 1;
    return a.is_monomial() && b.is_monomial();
  }

  bool distributes_over(const Expr& e, std::int64_t c) const {
    return type_.bits == 64 || c == 1 || c == -1 ||
           (e->op != Op::Add && e->op != Op::Sub && e->op != Op::Mul);
  }

  void wrap(Linear& l) const {
    if (type_.bits != 32) return;
    l.constant = static_cast<std::int32_t>(l.constant);
    for (Term& t : l.terms) t.coefficient = static_cast<std::int32_t>(t.coefficient);
    std::erase_if(l.terms, [](const Term& t) { return t.coefficient == 0; });
  }

  Type type_;
  const AtomMap& map_;
};

bool same_args(const Expr& a, const Expr& b) {
  return equal(a->args[0], b->args[0]) && equal(a->args[1], b->args[1]);
}

/// If terms `mod` and `other` are one linear form together: that form.
std::optional<Linear> merged_mod(const Term& mod, const Term& other) {
  const auto d = as_int(mod.atom->args[1]);
  if (!d || *d <= 0) return std::nullopt;
  std::int64_t expected;
  if (mul_overflows(mod.coefficient, *d, expected) || expected != other.coefficient) return std::nullopt;
  if (is(other.atom, Op::Div) && same_args(other.atom, mod.atom)) {
    if (!has_linear_form(mod.atom->type)) return Linear::of_atom(mod.atom->args[0], mod.coefficient);
    return scaled(linear_of(mod.atom->args[0]), mod.coefficient);
  }
  if (!is(other.atom, Op::Mod) || !is(other.atom->args[0], Op::Div)) return std::nullopt;
  const auto m = as_int(other.atom->args[1]);
  std::int64_t period;
  if (!m || *m <= 0 || !same_args(other.atom->args[0], mod.atom) || mul_overflows(*d, *m, period))
    return std::nullopt;
  const Type type = mod.atom->type;
  if (period > type.max_int()) return std::nullopt;
  return Linear::of_atom(make(Op::Mod, type, {mod.atom->args[0], make_int(type, period)}), mod.coefficient);
}

std::optional<Linear> merged(const Term& a, const Term& b) {
  if (is(a.atom, Op::Mod))
    if (auto r = merged_mod(a, b)) return r;
  if (is(a.atom, Op::Min) && is(b.atom, Op::Max) && a.coefficient == b.coefficient &&
      same_args(a.atom, b.atom) && has_linear_form(a.atom->type))
    return scaled(add(linear_of(a.atom->args[0]), linear_of(a.atom->args[1])), a.coefficient);
  return std::nullopt;
}

}  // namespace

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - floor_div(a, b) * b; }

std::int64_t gcd(std::int64_t a, std::int64_t b) {
  if (a == INT64_MIN || b == INT64_MIN) return 1;
  return std::gcd(a, b);
}

std::uint64_t Linear::hash() const {
  std::uint64_t h = static_cast<std::uint64_t>(constant) * 0x9e3779b97f4a7c15u;
  for (const Term& t : terms) {
    h ^= t.atom->hash + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
    h = (h ^ static_cast<std::uint64_t>(t.coefficient)) * 0xff51afd7ed558ccdu;
  }
  return h;
}

bool Linear::operator==(const Linear& other) const {
  if (constant != other.constant || terms.size() != other.terms.size()) return false;
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (terms[i].coefficient != other.terms[i].coefficient || !equal(terms[i].atom, other.terms[i].atom))
      return false;
  return true;
}

namespace {

/// a + scale * b, without the term of `a` at `left_out`.
Linear sum_of(const Linear& a, const Linear& b, std::int64_t scale, std::size_t left_out) {
  Linear r;
  r.overflow = a.overflow || b.overflow;
  r.constant = checked_add(a.constant, checked_mul(b.constant, scale, r.overflow), r.overflow);
  r.terms.reserve(a.terms.size() + b.terms.size());
  std::size_t i = left_out == 0 ? 1 : 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const int order = i >= a.terms.size()   ? 1
                      : j == b.terms.size() ? -1
                                            : compare(a.terms[i].atom, b.terms[j].atom);
    std::int64_t c = order <= 0 ? a.terms[i].coefficient : 0;
    if (order >= 0) c = checked_add(c, checked_mul(b.terms[j].coefficient, scale, r.overflow), r.overflow);
    if (c != 0) r.terms.push_back({order <= 0 ? a.terms[i].atom : b.terms[j].atom, c});
    i += order <= 0;
    i += i == left_out;
    j += order >= 0;
  }
  return r;
}

}  // namespace

Linear add(const Linear& a, const Linear& b, std::int64_t scale) {
  return sum_of(a, b, scale, a.terms.size());
}

Linear replaced(const Linear& l, std::size_t i, const Linear& by) {
  return sum_of(l, by, l.terms[i].coefficient, i);
}

Linear scaled(const Linear& a, std::int64_t scale) {
  if (scale == 0) return {};
  Linear r = a;
  r.constant = checked_mul(r.constant, scale, r.overflow);
  for (Term& t : r.terms) t.coefficient = checked_mul(t.coefficient, scale, r.overflow);
  std::erase_if(r.terms, [](const Term& t) { return t.coefficient == 0; });
  return r;
}

Linear multiply(const Linear& a, const Linear& b) {
  if (a.is_constant()) return scaled(b, a.constant);
  if (b.is_constant()) return scaled(a, b.constant);
  Linear r;
  r.overflow = a.overflow || b.overflow;
  r.constant = checked_mul(a.constant, b.constant, r.overflow);
  for (const Term& s : a.terms)
    for (const Term& t : b.terms)
      r.terms.push_back(
          {multiply_atoms(s.atom, t.atom), checked_mul(s.coefficient, t.coefficient, r.overflow)});
  for (const Term& s : a.terms)
    if (b.constant != 0) r.terms.push_back({s.atom, checked_mul(s.coefficient, b.constant, r.overflow)});
  for (const Term& t : b.terms)
    if (a.constant != 0) r.terms.push_back({t.atom, checked_mul(t.coefficient, a.constant, r.overflow)});
  sort_and_merge(r);
  return r;
}

Linear divided_exactly(const Linear& a, std::int64_t divisor) {
  Linear r = a;
  r.constant /= divisor;
  for (Term& t : r.terms) t.coefficient /= divisor;
  return r;
}

Linear without(const Linear& l, std::size_t i) {
  Linear r = l;
  r.terms.erase(r.terms.begin() + static_cast<std::ptrdiff_t>(i));
  return r;
}

std::int64_t coefficient_gcd(const Linear& l) {
  std::int64_t g = 0;
  for (const Term& t : l.terms) g = gcd(g, t.coefficient);
  return g;
}

Linear linear_of(const Expr& e, const AtomMap& simplify_atom) {
  if (!has_linear_form(e->type)) {
    Linear l = Linear::of_atom(simplify_atom ? simplify_atom(e) : e);
    if (auto c = as_int(l.terms[0].atom); c && !(e->type == UInt(64) && *c < 0))
      return Linear::of_constant(*c);
    return l;
  }
  if (e->op == Op::Variable && !simplify_atom) return Linear::of_atom(e);
  return Reader(e->type, simplify_atom).read(e);
}

Linear merge_pairs(Linear l) {
  const auto pairs_with = [](const Term& t) { return is(t.atom, Op::Mod) || is(t.atom, Op::Min); };
  for (bool changed = true; changed;) {
    changed = false;
    if (std::none_of(l.terms.begin(), l.terms.end(), pairs_with)) return l;
    for (std::size_t i = 0; i < l.terms.size() && !changed; ++i)
      for (std::size_t j = 0; j < l.terms.size() && !changed; ++j) {
        if (i == j || !pairs_with(l.terms[i])) continue;
        auto m = merged(l.terms[i], l.terms[j]);
        if (!m) continue;
        l = add(without(without(l, std::max(i, j)), std::min(i, j)), *m);
        changed = true;
      }
  }
  return l;
}

}  // namespace calotype::ir::algebra
