// Interval arithmetic in concrete integers: all values that an expression may have.

#include <algorithm>
#include <initializer_list>

#include "lang/evaluate_regions.h"

namespace calotype::lang {

namespace {

using ir::Op;
using Wide = __int128;

std::int64_t cut(Wide value) {
  return static_cast<std::int64_t>(std::clamp<Wide>(value, -Wide{kUnbounded}, Wide{kUnbounded}));
}

Range hull(std::initializer_list<Wide> values) { return {cut(std::min(values)), cut(std::max(values))}; }

Range type_range(Type type) {
  if (!type.is_integral()) return {-kUnbounded, kUnbounded};
  return {cut(type.min_int()), cut(type.max_int())};
}

Wide floor_div(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

Range divide(const Range& a, const Range& b) {
  if (b.min > 0 || b.max < 0) {
    return hull(
        {floor_div(a.min, b.min), floor_div(a.min, b.max), floor_div(a.max, b.min), floor_div(a.max, b.max)});
  }
  const Wide largest = std::max({a.max, -a.min, std::int64_t{0}});
  return hull({-largest, largest});
}

Range modulo(const Range& a, const Range& b) {
  if (b.min == b.max && b.min > 0 && floor_div(a.min, b.min) == floor_div(a.max, b.min)) {
    const Wide base = floor_div(a.min, b.min) * b.min;
    return hull({a.min - base, a.max - base});
  }
  return hull({0, std::max({std::abs(b.min), std::abs(b.max), std::int64_t{1}}) - Wide{1}});
}

Range shifted(const Range& a, const Range& by, bool left, Type type) {
  if (by.min != by.max || by.min < 0 || by.min >= type.bits || by.min > 60) return type_range(type);
  const Wide factor = Wide{1} << by.min;
  return left ? hull({a.min * factor, a.max * factor})
              : hull({floor_div(a.min, factor), floor_div(a.max, factor)});
}

Range truth(bool surely, bool possibly) { return {surely ? 1 : 0, possibly ? 1 : 0}; }

Range compare(Op op, const Range& a, const Range& b) {
  const bool equal = a.min == a.max && a == b, apart = a.max < b.min || b.max < a.min;
  switch (op) {
    case Op::Eq:
      return truth(equal, !apart);
    case Op::Ne:
      return truth(apart, !equal);
    case Op::Lt:
      return truth(a.max < b.min, a.min < b.max);
    default:
      return truth(a.max <= b.min, a.min <= b.max);
  }
}

Range binary(Op op, Type type, const Range& a, const Range& b) {
  switch (op) {
    case Op::Add:
      return hull({Wide{a.min} + b.min, Wide{a.max} + b.max});
    case Op::Sub:
      return hull({Wide{a.min} - b.max, Wide{a.max} - b.min});
    case Op::Mul:
      return hull({Wide{a.min} * b.min, Wide{a.min} * b.max, Wide{a.max} * b.min, Wide{a.max} * b.max});
    case Op::Div:
      return divide(a, b);
    case Op::Mod:
      return modulo(a, b);
    case Op::Min:
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case Op::Max:
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case Op::BitAnd:
      if (a.min < 0 && b.min < 0) return type_range(type);
      return {0, a.min < 0 ? b.max : b.min < 0 ? a.max : std::min(a.max, b.max)};
    case Op::Shl:
      return shifted(a, b, true, type);
    case Op::Shr:
      return shifted(a, b, false, type);
    default:
      return type_range(type);
  }
}

bool is_compare(Op op) { return ir::info(op).group == ir::OpGroup::compare; }

Range combine(const Expr& e, const std::vector<Range>& v) {
  const Type operand = e->args[ir::is(e, Op::Print) ? 0 : e->args.size() - 1]->type;
  if (!operand.is_integral()) return type_range(e->type);  // what comes from floats may be anything
  switch (e->op) {
    case Op::Neg:
      return hull({-Wide{v[0].max}, -Wide{v[0].min}});
    case Op::Abs:
      return v[0].min <= 0 && v[0].max >= 0 ? hull({0, -Wide{v[0].min}, v[0].max})
                                            : hull({std::abs(v[0].min), std::abs(v[0].max)});
    case Op::Not:
      return {1 - v[0].max, 1 - v[0].min};
    case Op::And:
      return {v[0].min & v[1].min, v[0].max & v[1].max};
    case Op::Or:
      return {v[0].min | v[1].min, v[0].max | v[1].max};
    case Op::Cast:
    case Op::Likely:
    case Op::Strict:
      return v[0];
    case Op::Popcount:
    case Op::CountLeadingZeros:
    case Op::CountTrailingZeros:
      return {0, operand.bits};
    case Op::Require:
      return v[1];
    case Op::Print:
      return v[0];
    case Op::PromiseClamped:
      return {std::max(v[0].min, v[1].min), std::max(v[0].min, std::min(v[0].max, v[2].max))};
    case Op::Select:
      if (v[0].min == v[0].max) return v[0].min != 0 ? v[1] : v[2];
      return {std::min(v[1].min, v[2].min), std::max(v[1].max, v[2].max)};
    default:
      break;
  }
  if (is_compare(e->op)) return compare(e->op, v[0], v[1]);
  return v.size() == 2 ? binary(e->op, e->type, v[0], v[1]) : type_range(e->type);
}

/// A result that leaves the type may have wrapped to anything.
Range fitted(Type type, const Range& r) {
  const Range all = type_range(type);
  return r.min < all.min || r.max > all.max ? all : r;
}

}  // namespace

Range range_of(const Expr& e, const Ranges& ranges, const Constants& constants) {
  std::map<const ir::ExprNode*, Range> known;
  ir::visit(e, [&](const Expr& node) {
    Range result = type_range(node->type);
    if (const auto value = ir::as_int(node)) {
      result = hull({*value});
    } else if (ir::is(node, Op::Variable)) {
      const ir::Symbol* symbol = ir::symbol_of(node).get();
      const auto range = ranges.find(symbol);
      if (range != ranges.end()) result = range->second;
      const auto constant = constants.find(symbol);
      if (constant != constants.end() && symbol->type.is_integral()) result = hull({constant->second.i});
    } else if (!node->args.empty() && node->op != Op::Call && node->type.is_integral()) {
      std::vector<Range> operands;
      for (const Expr& arg : node->args) operands.push_back(known.at(arg.node().get()));
      result = fitted(node->type, combine(node, operands));
    }
    known[node.node().get()] = result;
  });
  return known.at(e.node().get());
}

}  // namespace calotype::lang
