#pragma once
// Integer operations whose meaning differs from LLVM's: division that floors, Euclidean modulo, shifts of any
// amount. Operands are scalars or vectors of one type `t`.

#include "codegen/llvm/values.h"

namespace calotype::llvm_backend {

/// Rounds down; x / 0 = 0; the smallest value / -1 wraps.
llvm::Value* floor_div(Builder& b, Type t, llvm::Value* x, llvm::Value* y);
/// Never negative; x % 0 = 0.
llvm::Value* euclidean_mod(Builder& b, Type t, llvm::Value* x, llvm::Value* y);
/// Both sides >= 0 and y > 0, as lowering has proved.
llvm::Value* trunc_div(Builder& b, Type t, llvm::Value* x, llvm::Value* y);
llvm::Value* trunc_mod(Builder& b, Type t, llvm::Value* x, llvm::Value* y);

/// x shifted left (or right) by `amount`, whose own type says whether it can be negative: then the other way.
llvm::Value* shift(Builder& b, Type t, llvm::Value* x, Type amount_type, llvm::Value* amount, bool left);

}  // namespace calotype::llvm_backend
