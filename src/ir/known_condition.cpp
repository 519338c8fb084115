// What a condition that is known to hold says of the symbols in it.
#include "ir/known_condition.h"

#include <numeric>

namespace calotype::ir {

namespace {

void flatten(const Expr& e, std::vector<Expr>& parts) {
  if (is(e, Op::And)) {
    for (const Expr& side : e->args) flatten(side, parts);
  } else if (is(e, Op::Not) && is(e->args[0], Op::Or)) {
    for (const Expr& side : e->args[0]->args) flatten(simplify(!side), parts);
  } else {
    parts.push_back(e);
  }
}

/// A symbol, or its remainder, and a constant beside a comparison.
struct Comparison {
  SymbolPtr symbol;
  std::int64_t modulus = 0;  ///< not 0: symbol % modulus is compared
  std::int64_t value = 0;
  bool symbol_left = true;
};

std::optional<Comparison> comparison(const Expr& e) {
  for (const bool left : {true, false}) {
    const Expr &of = e->args[left ? 0 : 1], &with = e->args[left ? 1 : 0];
    const auto value = as_int(with);
    if (!value) continue;
    if (is(of, Op::Variable)) return Comparison{symbol_of(of), 0, *value, left};
    if (!is(of, Op::Mod) || !is(of->args[0], Op::Variable)) continue;
    if (const auto m = as_int(of->args[1]); m && *m > 1)
      return Comparison{symbol_of(of->args[0]), *m, *value, left};
  }
  return std::nullopt;
}

}  // namespace

std::vector<Expr> parts_of(const Expr& condition) {
  std::vector<Expr> parts;
  flatten(simplify(condition), parts);
  return parts;
}

std::optional<SymbolValues> values_left(const Expr& e) {
  const bool equal = is(e, Op::Eq), strict = is(e, Op::Lt);
  if (!equal && !strict && !is(e, Op::Le)) return std::nullopt;
  if (!e->args[0].type().is_integral() || e->args[0].type().is_bool()) return std::nullopt;
  const auto c = comparison(e);
  if (!c) return std::nullopt;
  if (c->modulus != 0) {
    if (!equal || c->value != 0) return std::nullopt;
    return SymbolValues{.symbol = c->symbol, .low = {}, .high = {}, .multiple = c->modulus};
  }
  if (equal) return SymbolValues{.symbol = c->symbol, .low = c->value, .high = c->value};
  const std::int64_t gap = strict ? 1 : 0;
  if (c->symbol_left) return SymbolValues{.symbol = c->symbol, .low = {}, .high = c->value - gap};
  return SymbolValues{.symbol = c->symbol, .low = c->value + gap, .high = {}};
}

void learn(Facts& facts, const Expr& condition) {
  facts.assume(condition);
  const auto v = values_left(condition);
  if (!v) return;
  const Facts::Known* known = facts.find(v->symbol);
  Interval range = known ? known->range : Interval{};
  const std::int64_t multiple = std::lcm(known ? known->multiple : 1, v->multiple);
  const auto constant = [&](std::int64_t value) { return make_int(v->symbol->type, value); };
  if (v->low && !(range.min.defined() && as_int(range.min) >= v->low)) range.min = constant(*v->low);
  if (v->high && !(range.max.defined() && as_int(range.max) <= v->high)) range.max = constant(*v->high);
  facts.set_range(v->symbol, range.min, range.max);
  if (multiple > 1) facts.set_multiple(v->symbol, multiple);
}

}  // namespace calotype::ir
