// The ends of a type's range.

#include "ir/limits.h"

#include <limits>

namespace calotype::ir {

Expr lowest(Type type) {
  if (type.is_float()) return make_float(type, -std::numeric_limits<double>::infinity());
  return make_int(type, type.min_int());
}

Expr highest(Type type) {
  if (type.is_float()) return make_float(type, std::numeric_limits<double>::infinity());
  return make_int(type, type.is_uint() ? -1 : type.max_int());  // -1 wraps to the largest
}

}  // namespace calotype::ir
