#pragma once
// The math functions of f32 and f64, scalars or vectors. f32 within 2 ulp over the whole range, special
// values and subnormals included: exp, exp2, log, log2, tanh, erf, sin, cos and pow with no calls, the others
// by the C library's f64, a lane at a time. f64 by the C library, a lane at a time.

#include "codegen/llvm/machine.h"
#include "codegen/llvm/values.h"
#include "ir/expr_node.h"

namespace calotype::llvm_backend {

/// `op` of f32 or f64 operands: one, or two for Pow, Atan2 and Hypot.
llvm::Value* emit_math(Builder& b, const Machine& machine, ir::Op op, llvm::ArrayRef<llvm::Value*> operands);

}  // namespace calotype::llvm_backend
