#pragma once
// exp, log, tanh, erf, sin, cos, pow, sqrt, rsqrt, floor, ceil, trunc, round of f32 and f64, scalars or
// vectors. f32 within 2 ulp over the whole range, special values and subnormals included, with no calls; f64
// by the C library, a lane at a time.

#include "codegen/llvm/values.h"
#include "ir/expr_node.h"

namespace calotype::llvm_backend {

/// `op` of f32 or f64 operands: one, or two for Pow.
llvm::Value* emit_math(Builder& b, ir::Op op, llvm::ArrayRef<llvm::Value*> operands);

}  // namespace calotype::llvm_backend
