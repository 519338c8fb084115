#pragma once
// Largest and smallest values that loops carry.

#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class Loop;
class LPMUpdater;
}  // namespace llvm

namespace calotype::llvm_backend {

/// A maximum or minimum that a loop carries, from a constant that is no NaN on, never is one: of it and a NaN
/// it stays what it is. So where x may be a NaN and it cannot, a comparison decides, which is one instruction
/// on x86 where an operation that asks of both takes three. Requires and leaves loops in simplified form.
struct CompareExtremes : llvm::PassInfoMixin<CompareExtremes> {
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses,
                              llvm::LoopStandardAnalysisResults& results, llvm::LPMUpdater& updater);
};

}  // namespace calotype::llvm_backend
