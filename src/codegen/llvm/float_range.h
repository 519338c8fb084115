#pragma once
// Constant bounds of floating-point expressions, so that a conversion need not clamp what is clamped already.

#include "ir/expr_node.h"

namespace calotype::llvm_backend {

/// Whether a float expression (scalar or vector) is never NaN and lies, in every lane, within what the
/// integer type of at most 16 bits can hold once truncated. False if clamps by constants do not show it.
bool fits_integer(const Expr& e, Type to);

}  // namespace calotype::llvm_backend
