// What a condition says of an index.
#include "lower/index_condition.h"

#include <algorithm>

#include "ir/expr_node.h"

namespace calotype::lower {

namespace {

using ir::Interval;

class Clipper {
 public:
  Clipper(ir::Algebra& algebra, const ir::Scope& scope) : algebra_(algebra), scope_(scope) {}

  Interval of(const Expr& index, const Expr& condition) {
    Interval range;
    if (ir::is(condition, ir::Op::And)) {
      for (const Expr& part : condition->args) intersect(algebra_, range, of(index, part));
      return range;
    }
    if (divides(index)) range = of_parts(index, condition);
    const bool strict = ir::is(condition, ir::Op::Lt);
    if (!strict && !ir::is(condition, ir::Op::Le)) return range;
    const Expr low = condition->args[0], high = condition->args[1], gap = ir::index(strict ? 1 : 0);
    if (low->type != Int(64)) return range;
    intersect(algebra_, range, of_side(index, low, high - gap, true));
    intersect(algebra_, range, of_side(index, high, low + gap, false));
    return range;
  }

 private:
  /// What bounds a dividend bounds the quotient, and what bounds a quotient its sums with what is fixed.
  Interval of_parts(const Expr& index, const Expr& condition) {
    Interval range;
    if (index->args.size() != 2) return range;
    const Expr &left = index->args[0], &right = index->args[1];
    const bool difference = ir::is(index, ir::Op::Sub);
    if (ir::is(index, ir::Op::Div) && ir::as_int(right).value_or(0) > 0)
      return mapped(of(left, condition), [&](const Expr& end) { return end / right; });
    if (!difference && !ir::is(index, ir::Op::Add)) return range;
    if (is_fixed(right))
      return mapped(of(left, condition),
                    [&](const Expr& end) { return difference ? end - right : end + right; });
    if (!is_fixed(left)) return range;
    range =
        mapped(of(right, condition), [&](const Expr& end) { return difference ? left - end : left + end; });
    if (difference) std::swap(range.min, range.max);
    return range;
  }

  template <class F>
  Interval mapped(Interval range, F whole) {
    for (Expr* end : {&range.min, &range.max})
      if (end->defined()) *end = algebra_.simplify(whole(*end));
    return range;
  }

  /// With `side` at most `end` (or at least): an index of so many times `side` and something fixed.
  Interval of_side(const Expr& index, const Expr& side, const Expr& end, bool at_most) {
    for (const std::int64_t times : {std::int64_t{1}, std::int64_t{-1}, times_of(index, side)}) {
      const Expr rest = algebra_.simplify(index - ir::index(times) * side);
      if (times == 0 || !is_fixed(rest)) continue;
      const Interval ends = algebra_.bounds_of(ir::index(times) * end + rest, scope_);
      return at_most == (times > 0) ? Interval{{}, ends.max} : Interval{ends.min, {}};
    }
    return {};
  }

  /// How many times a symbol of the scope stands in `index` for each time that it stands in `side`; 0: no
  /// whole number.
  std::int64_t times_of(const Expr& index, const Expr& side) {
    for (const auto& [symbol, range] : scope_) {
      const std::optional<ir::LinearIn> in_side = ir::linear_in(algebra_.simplify(side), symbol);
      if (!in_side || in_side->coefficient == 0) continue;
      const std::optional<ir::LinearIn> in_index = ir::linear_in(algebra_.simplify(index), symbol);
      return in_index && in_index->coefficient % in_side->coefficient == 0
                 ? in_index->coefficient / in_side->coefficient
                 : 0;
    }
    return 0;
  }

  bool is_fixed(const Expr& e) const {
    const std::vector<ir::SymbolPtr> symbols = ir::free_symbols(e);
    return !ir::any_of(e, [](const Expr& n) { return ir::is(n, ir::Op::Call); }) &&
           std::none_of(symbols.begin(), symbols.end(),
                        [&](const ir::SymbolPtr& s) { return scope_.count(s) != 0; });
  }

  ir::Algebra& algebra_;
  const ir::Scope& scope_;
};

}  // namespace

bool divides(const Expr& e) {
  return ir::any_of(e, [](const Expr& n) { return ir::is(n, ir::Op::Div) || ir::is(n, ir::Op::Mod); });
}

void intersect(ir::Algebra& algebra, Interval& range, const Interval& other) {
  if (other.min.defined())
    range.min = range.min.defined() ? algebra.simplify(max(range.min, other.min)) : other.min;
  if (other.max.defined())
    range.max = range.max.defined() ? algebra.simplify(min(range.max, other.max)) : other.max;
}

Interval range_by_condition(ir::Algebra& algebra, const Expr& index, const Expr& condition,
                            const ir::Scope& scope) {
  return condition.defined() ? Clipper(algebra, scope).of(index, condition) : Interval{};
}

}  // namespace calotype::lower
