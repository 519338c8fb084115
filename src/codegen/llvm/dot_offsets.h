#pragma once
// What makes up for the offsets of dot products, kept beside the sums that loops carry.

#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/IR/PassManager.h>

namespace llvm {
class Loop;
class LPMUpdater;
}  // namespace llvm

namespace calotype::llvm_backend {

/// Of a sum that a loop carries, as sum = dot(sum, x, y) - c, the values c are added up by themselves and
/// taken off behind the loop: once for all sums that have the same ones, as those of a tile do whose rows
/// share y. Sums wrap, so their order is free. Requires and leaves loops in simplified form and LCSSA.
struct SeparateOffsets : llvm::PassInfoMixin<SeparateOffsets> {
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& analyses,
                              llvm::LoopStandardAnalysisResults& results, llvm::LPMUpdater& updater);
};

}  // namespace calotype::llvm_backend
