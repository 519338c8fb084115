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

Expr require(Expr condition, Expr value, const std::string& message) {
  const char* what = "require";
  ir::require_defined(condition, what);
  ir::require_defined(value, what);
  ir::require_operand(condition->type.is_bool(), what, condition, "a bool, as a comparison gives");
  if (message.empty()) {
    throw Error({.kind = ErrorKind::Algorithm,
                 .message = fmt::format("'require' of '{}' has no message", condition.str()),
                 .value = "\"\"",
                 .legal = "a text that says what must hold"});
  }
  ir::match_lanes(what, condition, value);
  const Type type = value->type;
  return ir::make(ir::Op::Require, type, {std::move(condition), std::move(value)},
                  std::make_shared<const std::string>(message));
}

Expr undef(Type type) { return ir::make(ir::Op::Undef, type, {}); }

}  // namespace calotype
