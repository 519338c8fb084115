// Explicit conversions of expressions.

#include <algorithm>

#include "ir/typing.h"

namespace calotype {

Expr cast(Type type, Expr a) {
  ir::require_defined(a, "cast");
  type = type.with_lanes(std::max(type.lanes, a->type.lanes));
  if (type.lanes != a->type.lanes) a = ir::make(ir::Op::Broadcast, a->type.with_lanes(type.lanes), {a});
  if (type.is_bool() && a->type.is_float8()) a = cast(Float(32), std::move(a));
  if (type.is_bool() && !a->type.is_bool()) return a != ir::make_zero(a->type);
  const Expr result = ir::convert(type, a);
  return ir::is_const(result) ? ir::make_typed(result) : result;
}

Expr saturating_cast(Type type, Expr a) {
  ir::require_defined(a, "saturating_cast");
  const Type from = a->type.element(), to = type.element();
  if (!from.is_integral() || !to.is_integral() || to.is_bool()) return cast(type, std::move(a));
  // Only the ends of the target's range that cut into the operand's need a clamp, and those the operand's
  // type holds. (max_int of UInt(64) reads as that of Int(64); the widths tell the two apart.)
  const bool below = from.min_int() < to.min_int();
  const bool above = to.max_int() < from.max_int() || (from == UInt(64) && to != UInt(64));
  if (below) a = max(a, ir::make_int(a->type, to.min_int()));
  if (above) a = min(a, ir::make_int(a->type, to.max_int()));
  return cast(type, std::move(a));
}

}  // namespace calotype
