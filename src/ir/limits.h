#pragma once
// The ends of a type's range, as constants: what nothing is below or above.

#include "ir/expr_node.h"

namespace calotype::ir {

/// The smallest value of the type; of floats minus infinity.
Expr lowest(Type type);
/// The largest value of the type; of floats infinity.
Expr highest(Type type);

}  // namespace calotype::ir
