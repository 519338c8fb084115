// Largest and smallest values that loops carry.
#include "codegen/llvm/carried_extremes.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

#include <vector>

namespace calotype::llvm_backend {

namespace {

using llvm::Value;

llvm::IntrinsicInst* extreme(Value* v) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
  if (!call) return nullptr;
  const llvm::Intrinsic::ID id = call->getIntrinsicID();
  return id == llvm::Intrinsic::maxnum || id == llvm::Intrinsic::minnum ? call : nullptr;
}

/// A step: an extreme of what is carried and of something else.
struct Step {
  llvm::IntrinsicInst* call;
  unsigned carried;  ///< which operand
};

/// The steps from the phi to what it becomes, last first; empty if it becomes something else.
std::vector<Step> steps_from(llvm::PHINode& phi, Value* last, const llvm::Loop& loop) {
  std::vector<Step> steps;
  for (Value* v = last; v != &phi;) {
    llvm::IntrinsicInst* call = extreme(v);
    if (!call || !loop.contains(call)) return {};
    // The operand that leads back to the phi: it, or another extreme.
    const auto leads = [&](unsigned i) {
      return call->getArgOperand(i) == &phi ||
             (extreme(call->getArgOperand(i)) && loop.contains(extreme(call->getArgOperand(i))));
    };
    const unsigned carried = call->getArgOperand(0) == &phi   ? 0
                             : call->getArgOperand(1) == &phi ? 1
                             : leads(0)                       ? 0
                                                              : 1;
    steps.push_back({call, carried});
    v = call->getArgOperand(carried);
  }
  return steps;
}

/// The extreme by a comparison that leaves what is carried if the other is a NaN.
void compare(const Step& step) {
  llvm::IRBuilder<> b(step.call);
  Value *carried = step.call->getArgOperand(step.carried),
        *other = step.call->getArgOperand(1 - step.carried);
  const bool largest = step.call->getIntrinsicID() == llvm::Intrinsic::maxnum;
  Value* better = largest ? b.CreateFCmpOGT(other, carried) : b.CreateFCmpOLT(other, carried);
  step.call->replaceAllUsesWith(b.CreateSelect(better, other, carried));
  step.call->eraseFromParent();
}

bool is_number(const Value* start) {
  const llvm::APFloat* constant = nullptr;
  return llvm::PatternMatch::match(start, llvm::PatternMatch::m_APFloat(constant)) && !constant->isNaN();
}

}  // namespace

llvm::PreservedAnalyses CompareExtremes::run(llvm::Loop& loop, llvm::LoopAnalysisManager&,
                                             llvm::LoopStandardAnalysisResults&, llvm::LPMUpdater&) {
  llvm::BasicBlock *latch = loop.getLoopLatch(), *before = loop.getLoopPreheader();
  if (!latch || !before) return llvm::PreservedAnalyses::all();
  bool changed = false;
  for (llvm::PHINode& phi : loop.getHeader()->phis()) {
    if (!phi.getType()->getScalarType()->isFloatTy() || !is_number(phi.getIncomingValueForBlock(before)))
      continue;
    for (const Step& step : steps_from(phi, phi.getIncomingValueForBlock(latch), loop)) {
      compare(step);
      changed = true;
    }
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept = llvm::getLoopPassPreservedAnalyses();
  kept.preserve<llvm::MemorySSAAnalysis>();
  return kept;
}

}  // namespace calotype::llvm_backend
