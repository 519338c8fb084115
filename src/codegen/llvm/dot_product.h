#pragma once
// Sums of products of neighbouring lanes, by the instructions that machines have for narrow integers.

#include "codegen/llvm/machine.h"
#include "codegen/llvm/values.h"

namespace calotype::llvm_backend {

/// A vector of integers of 8 or 16 bits.
struct Factor {
  llvm::Value* value;
  Type type;
};

/// Whether the machine multiplies and adds vectors of these elements in one step, in groups of this size.
bool has_dot_product(const Machine& machine, Type x, Type y, int group);

/// `sum` and the products x * y of each group of neighbours, added up modulo 2^32: a vector of integers of 32
/// bits, or a scalar where there is one group. `sum` may be null. Where a factor has to be offset, it is x.
llvm::Value* dot_product(Builder& b, const Machine& machine, llvm::Value* sum, Factor x, Factor y, int group);

}  // namespace calotype::llvm_backend
