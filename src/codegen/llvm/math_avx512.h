#pragma once
// Math functions of f32 by instructions that AVX-512 has and other machines do not: lookups of 16 values in
// one register, scaling by powers of two that rounds subnormal results once, approximate reciprocals. Half
// the operations of the general ones, at the same exactness.

#include "codegen/llvm/values.h"
#include "ir/expr_node.h"

namespace calotype::llvm_backend {

/// `op` of f32 operands on a machine with AVX-512: Exp, FastExp and Erf within 2 ulp over the whole range,
/// FastDivide within what calotype/math.h promises. Null: an operation that has no code of its own there.
/// A lane's result does not depend on how many lanes there are.
llvm::Value* emit_math_avx512(Builder& b, ir::Op op, llvm::ArrayRef<llvm::Value*> operands);

}  // namespace calotype::llvm_backend
