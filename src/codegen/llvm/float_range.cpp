// Bounds by clamps. `min` and `max` of a NaN and a number are the number, so a clamp also shows that there is
// no NaN.
#include "codegen/llvm/float_range.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/value.h"

namespace calotype::llvm_backend {
namespace {

using ir::Op;

struct FloatRange {
  double low = -INFINITY, high = INFINITY;
  bool number = false;  // never NaN
};

FloatRange range_of(const Expr& e) {
  switch (e->op) {
    case Op::Const: {
      const std::optional<double> value = ir::as_float(e);
      return value && !std::isnan(*value) ? FloatRange{*value, *value, true} : FloatRange{};
    }
    case Op::Broadcast:
    case Op::Strict:
    case Op::Likely:
      return range_of(e->args[0]);
    case Op::Min:
    case Op::Max: {
      const FloatRange a = range_of(e->args[0]), b = range_of(e->args[1]);
      // Where one side may be NaN the other is the result.
      const bool is_min = e->op == Op::Min;
      const FloatRange both = is_min ? FloatRange{std::min(a.low, b.low), std::min(a.high, b.high)}
                                     : FloatRange{std::max(a.low, b.low), std::max(a.high, b.high)};
      FloatRange r = both;
      if (!a.number) r = {std::min(r.low, b.low), std::max(r.high, b.high)};
      if (!b.number) r = {std::min(r.low, a.low), std::max(r.high, a.high)};
      r.number = a.number || b.number;
      return r;
    }
    case Op::Round:
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc: {
      const FloatRange a = range_of(e->args[0]);
      return {std::floor(a.low), std::ceil(a.high), a.number};
    }
    default:
      return {};
  }
}

}  // namespace

bool fits_integer(const Expr& e, Type to) {
  if (!e->type.is_float() || !to.is_integral() || to.is_bool() || to.bits > 16) return false;
  const FloatRange r = range_of(e);
  return r.number && r.low >= static_cast<double>(to.min_int()) &&
         r.high <= static_cast<double>(to.max_int());
}

}  // namespace calotype::llvm_backend
