#pragma once
// Floating-point operations and conversions between all types. 16-bit floats are widened to f32, computed
// there and rounded back, which for + - * / and sqrt equals the correctly rounded 16-bit operation.

#include "codegen/llvm/machine.h"
#include "codegen/llvm/values.h"

namespace calotype::llvm_backend {

/// The value as f32 (f64 stays as it is).
llvm::Value* widen(Builder& b, Type type, llvm::Value* value);
/// A value of `widen`'s type rounded to `type`, halves to even.
llvm::Value* narrow(Builder& b, Type type, llvm::Value* value);

/// The smaller or larger one; the other operand for one NaN. f32 or f64.
llvm::Value* float_min(Builder& b, llvm::Value* x, llvm::Value* y);
llvm::Value* float_max(Builder& b, llvm::Value* x, llvm::Value* y);
/// x * y + z rounded once, in any float type.
llvm::Value* fused_multiply_add(Builder& b, Type type, llvm::Value* x, llvm::Value* y, llvm::Value* z);

/// Op::Cast: float to integer truncates and saturates, NaN gives 0; integers wrap; to Bool: whether it is not
/// 0.
llvm::Value* convert(Builder& b, Type to, Type from, llvm::Value* value);
/// The same from float to an integer of at most 16 bits, for a value that is no NaN and known to fit.
llvm::Value* convert_in_range(Builder& b, Type to, Type from, llvm::Value* value);

}  // namespace calotype::llvm_backend
