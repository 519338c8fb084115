// Largest and smallest values that loops carry.
#include "codegen/llvm/carried_extremes.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

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

/// Whether anything was changed.
bool compare_in(const llvm::Loop& loop) {
  llvm::BasicBlock *latch = loop.getLoopLatch(), *before = loop.getLoopPredecessor();
  if (!latch || !before) return false;
  bool changed = false;
  for (llvm::PHINode& phi : loop.getHeader()->phis()) {
    if (!phi.getType()->getScalarType()->isFloatTy() || !is_number(phi.getIncomingValueForBlock(before)))
      continue;
    for (const Step& step : steps_from(phi, phi.getIncomingValueForBlock(latch), loop)) {
      compare(step);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

llvm::PreservedAnalyses CompareExtremes::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  bool changed = false;
  for (const llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder())
    changed |= compare_in(*loop);
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

}  // namespace calotype::llvm_backend
