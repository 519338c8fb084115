#pragma once
// Largest and smallest values that loops carry.

#include <llvm/IR/PassManager.h>

namespace calotype::llvm_backend {

/// A maximum or minimum that a loop carries, from a constant that is no NaN on, never is one: of it and a NaN
/// it stays what it is. So where x may be a NaN and it cannot, a comparison decides, which is one instruction
/// on x86 where an operation that asks of both takes three. Of loops whose first values are known: memory
/// that was promoted to registers has to be looked through before.
struct CompareExtremes : llvm::PassInfoMixin<CompareExtremes> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace calotype::llvm_backend
