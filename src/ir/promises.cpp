// What is promised of a value, or left open.

#include <fmt/format.h>

#include "calotype/error.h"
#include "calotype/values.h"
#include "ir/typing.h"

namespace calotype {

Expr promise_clamped(Expr value, Expr low, Expr high) {
  const char* what = "promise_clamped";
  ir::require_defined(value, what);
  ir::require_operand(value->type.is_integral() && !value->type.is_bool(), what, value, "integers");
  for (Expr* end : {&low, &high}) {
    ir::require_defined(*end, what);
    if (ir::is_literal(*end)) *end = ir::adopt(what, *end, value->type, value);
    const bool fits =
        end->type().is_integral() && ir::common_type(value->type, end->type()) == value->type.element();
    ir::require_operand(fits, what, *end, "ends that the type of the value holds");
    *end = ir::convert(value->type, *end);
    ir::match_lanes(what, value, *end);
  }
  return ir::make(ir::Op::PromiseClamped, value->type, {value, low, high});
}

Expr undef(Type type) { return ir::make(ir::Op::Undef, type, {}); }

}  // namespace calotype
