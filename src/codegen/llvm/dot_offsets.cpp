// What makes up for the offsets of dot products, kept beside the sums that loops carry.
#include "codegen/llvm/dot_offsets.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

#include <vector>

namespace calotype::llvm_backend {

namespace {

using llvm::Value;

bool is_dot(const Value* v) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
  if (!call) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::x86_avx512_vpdpbusd_128:
    case llvm::Intrinsic::x86_avx512_vpdpbusd_256:
    case llvm::Intrinsic::x86_avx512_vpdpbusd_512:
      return true;
    default:
      return false;
  }
}

/// The steps from a loop's phi to what it becomes, as far as they take something off.
struct CarriedSum {
  llvm::PHINode* phi;
  llvm::Instruction* last;
  std::vector<llvm::Instruction*> differences;  ///< in the order of the program
  std::vector<Value*> offsets;                  ///< what each takes off
};

/// Offsets that loops add up: before an iteration's end and at it.
struct AddedUp {
  std::vector<Value*> offsets;
  Value* next;
};

class Separation {
 public:
  Separation(llvm::Loop& loop, llvm::BasicBlock* latch, llvm::BasicBlock* before)
      : loop_(loop), latch_(latch), before_(before) {}

  bool run() {
    std::vector<CarriedSum> sums;
    for (llvm::PHINode& phi : loop_.getHeader()->phis())
      if (std::optional<CarriedSum> sum = carried(phi)) sums.push_back(std::move(*sum));
    for (CarriedSum& sum : sums) separate(sum);
    return !sums.empty();
  }

 private:
  std::optional<CarriedSum> carried(llvm::PHINode& phi) const {
    auto* last = llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValueForBlock(latch_));
    if (!phi.getType()->isVectorTy() || !phi.hasOneUse() || !last || !loop_.contains(last))
      return std::nullopt;
    CarriedSum sum{&phi, last, {}, {}};
    for (Value* v = last; v != &phi;) {
      auto* step = llvm::dyn_cast<llvm::Instruction>(v);
      if (!step || !loop_.contains(step) || (step != last && !step->hasOneUse())) return std::nullopt;
      const bool difference = step->getOpcode() == llvm::Instruction::Sub;
      if (!difference && !is_dot(step)) return std::nullopt;
      if (difference) {
        sum.differences.insert(sum.differences.begin(), step);
        sum.offsets.insert(sum.offsets.begin(), step->getOperand(1));
      }
      v = step->getOperand(0);
    }
    for (const llvm::User* user : last->users()) {
      const auto* other = llvm::cast<llvm::Instruction>(user);
      if (other != &phi && (loop_.contains(other) || !llvm::isa<llvm::PHINode>(other))) return std::nullopt;
    }
    return sum.differences.empty() ? std::nullopt : std::optional(std::move(sum));
  }

  void separate(CarriedSum& sum) {
    Value* taken_off = added_up(sum.offsets);
    std::vector<llvm::PHINode*> outside;
    for (llvm::User* user : sum.last->users())
      if (user != sum.phi) outside.push_back(llvm::cast<llvm::PHINode>(user));
    for (llvm::PHINode* end : outside) {
      auto* offset =
          llvm::PHINode::Create(end->getType(), end->getNumIncomingValues(), "", end->getIterator());
      for (llvm::BasicBlock* from : end->blocks()) offset->addIncoming(taken_off, from);
      auto* whole = llvm::BinaryOperator::CreateSub(end, offset, "", end->getParent()->getFirstInsertionPt());
      end->replaceUsesWithIf(whole, [&](const llvm::Use& use) { return use.getUser() != whole; });
    }
    for (llvm::Instruction* difference : sum.differences) {
      difference->replaceAllUsesWith(difference->getOperand(0));
      difference->eraseFromParent();
    }
  }

  /// What the loop's iterations so far add up to at the end of one.
  Value* added_up(const std::vector<Value*>& offsets) {
    for (const AddedUp& known : known_)
      if (known.offsets == offsets) return known.next;
    llvm::Type* type = offsets.front()->getType();
    auto* sum = llvm::PHINode::Create(type, 2, "offsets", loop_.getHeader()->begin());
    Value* next = sum;
    for (Value* offset : offsets) next = added(next, offset);
    sum->addIncoming(llvm::Constant::getNullValue(type), before_);
    sum->addIncoming(next, latch_);
    known_.push_back({offsets, next});
    return next;
  }

  /// A dot product that starts from nothing starts from the sum instead.
  Value* added(Value* sum, Value* offset) const {
    const llvm::BasicBlock::iterator end = latch_->getTerminator()->getIterator();
    auto* start = is_dot(offset)
                      ? llvm::dyn_cast<llvm::Constant>(llvm::cast<llvm::Instruction>(offset)->getOperand(0))
                      : nullptr;
    if (!start || !start->isNullValue()) return llvm::BinaryOperator::CreateAdd(sum, offset, "", end);
    llvm::Instruction* from_sum = llvm::cast<llvm::Instruction>(offset)->clone();
    from_sum->setOperand(0, sum);
    from_sum->insertBefore(end);
    return from_sum;
  }

  llvm::Loop& loop_;
  llvm::BasicBlock *latch_, *before_;
  std::vector<AddedUp> known_;
};

}  // namespace

llvm::PreservedAnalyses SeparateOffsets::run(llvm::Loop& loop, llvm::LoopAnalysisManager&,
                                             llvm::LoopStandardAnalysisResults&, llvm::LPMUpdater&) {
  llvm::BasicBlock *latch = loop.getLoopLatch(), *before = loop.getLoopPreheader();
  if (!latch || !before || loop.getExitingBlock() != latch) return llvm::PreservedAnalyses::all();
  if (!Separation(loop, latch, before).run()) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept = llvm::getLoopPassPreservedAnalyses();
  kept.preserve<llvm::MemorySSAAnalysis>();
  return kept;
}

}  // namespace calotype::llvm_backend
