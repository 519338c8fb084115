// Stores and loads that pass the caches by. Machines store so whole vectors at addresses that are multiples
// of their size, which nothing promises of a caller's buffer: each store tests its own address, and takes the
// ordinary way elsewhere.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "codegen/llvm/stmt_emitter.h"

namespace calotype::llvm_backend {

using llvm::Value;

namespace {

constexpr std::int64_t kLeastBytes = 16;

}  // namespace

bool ExprEmitter::streams(const ir::BufferPtr& buffer, Type type) const {
  const std::int64_t bytes = static_cast<std::int64_t>(type.element().bytes()) * type.lanes;
  return buffer->stream_stores && bytes >= kLeastBytes && bytes % kLeastBytes == 0;
}

void ExprEmitter::stream_store(const ir::BufferPtr& buffer, Type type, Value* value, Value* pointer) {
  environment_.streams = true;
  const std::int64_t bytes = static_cast<std::int64_t>(type.element().bytes()) * type.lanes;
  std::int64_t piece = kLeastBytes;  // of one register
  while (bytes % (2 * piece) == 0 && 2 * piece * 8 <= settings_.machine.vector_bits) piece *= 2;
  Value* low = b_.CreateAnd(b_.CreatePtrToInt(pointer, b_.getInt64Ty()),
                            b_.getInt64(static_cast<std::uint64_t>(piece - 1)));
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function);
  };
  llvm::BasicBlock *past = block("past"), *through = block("through"), *after = block("stored");
  b_.CreateCondBr(b_.CreateICmpEQ(low, b_.getInt64(0)), past, through);
  b_.SetInsertPoint(past);
  llvm::Instruction* store =
      annotate(b_.CreateAlignedStore(value, pointer, llvm::Align(static_cast<std::uint64_t>(piece))), buffer);
  llvm::Metadata* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b_.getContext(), {one}));
  b_.CreateBr(after);
  b_.SetInsertPoint(through);
  annotate(
      b_.CreateAlignedStore(value, pointer, llvm::Align(static_cast<std::uint64_t>(type.element().bytes()))),
      buffer);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

/// x86 has such loads for device memory alone; there the line that is about to be read is fetched as one that
/// is not kept.
void ExprEmitter::stream_load(llvm::LoadInst& load) const {
  if (!settings_.machine.x86) {
    llvm::Metadata* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
    load.setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b_.getContext(), {one}));
    return;
  }
  llvm::IRBuilder<> before(&load);
  Value* pointer = load.getPointerOperand();
  constexpr int kRead = 0, kNotKept = 0, kData = 1;
  before.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {pointer->getType()},
      {pointer, before.getInt32(kRead), before.getInt32(kNotKept), before.getInt32(kData)});
}

/// Such stores are ordered with nothing else: they are completed before other threads may look, and before
/// their memory serves another purpose.
void StmtEmitter::complete_streams() {
  if (shared_.settings.machine.x86)
    b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
  else
    b_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
}

}  // namespace calotype::llvm_backend
