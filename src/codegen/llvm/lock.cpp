// Updates that no instruction does at once: a lock for the element, of a table in the program's own memory.
// Elements far apart may have one lock, which costs time and nothing else, since no thread takes a second one
// while it has one.
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/TargetParser/Triple.h>

#include "codegen/llvm/stmt_emitter.h"

namespace calotype::llvm_backend {

using llvm::AtomicOrdering;
using llvm::Value;

namespace {

constexpr std::uint64_t kLocks = 256;   // a power of two
constexpr std::uint64_t kStride = 64;   // bytes: each lock has a line of cache to itself
constexpr std::uint64_t kGranule = 16;  // bytes of elements that share one

}  // namespace

void StmtEmitter::emit_locked(const ir::StmtNode& s) {
  const ir::BufferPtr& buffer = s.buffer();
  Value* index = b_.CreateSExt(exprs_.emit(s.exprs[0]), b_.getInt64Ty());
  Value* pointer = environment_.buffers.at(buffer.get()).pointer;
  Value* lock = lock_of(b_.CreateGEP(memory_type(b_.getContext(), buffer->type.element()), pointer, index));
  exprs_.forget();
  take(lock);
  emit(s.body());
  exprs_.forget();
  llvm::StoreInst* free = b_.CreateAlignedStore(b_.getInt32(0), lock, llvm::Align(4));
  free->setAtomic(AtomicOrdering::Release);
}

/// By the address of the element, so that it is the same one wherever the element is updated.
Value* StmtEmitter::lock_of(Value* pointer) {
  llvm::Type* table = llvm::ArrayType::get(b_.getInt8Ty(), kLocks * kStride);
  llvm::GlobalVariable* locks = shared_.module.getGlobalVariable("locks", /*AllowInternal=*/true);
  if (!locks) {
    locks = new llvm::GlobalVariable(shared_.module, table, /*isConstant=*/false,
                                     llvm::GlobalValue::InternalLinkage,
                                     llvm::ConstantAggregateZero::get(table), "locks");
    locks->setAlignment(llvm::Align(kStride));
  }
  Value* granule = b_.CreateUDiv(b_.CreatePtrToInt(pointer, b_.getInt64Ty()), b_.getInt64(kGranule));
  // Rows of a power of two bytes would meet in few locks without their upper bits.
  Value* mixed = b_.CreateXor(granule, b_.CreateLShr(granule, b_.getInt64(8)));
  Value* at = b_.CreateMul(b_.CreateAnd(mixed, b_.getInt64(kLocks - 1)), b_.getInt64(kStride));
  return b_.CreateGEP(b_.getInt8Ty(), locks, at);
}

/// Waits by reading, so that those who wait do not take the line from each other.
void StmtEmitter::take(Value* lock) {
  llvm::BasicBlock *attempt = new_block("lock"), *wait = new_block("lock.wait"), *taken = new_block("locked");
  b_.CreateBr(attempt);
  b_.SetInsertPoint(attempt);
  Value* before = b_.CreateAtomicRMW(llvm::AtomicRMWInst::Xchg, lock, b_.getInt32(1), llvm::Align(4),
                                     AtomicOrdering::Acquire);
  b_.CreateCondBr(b_.CreateIsNull(before), taken, wait);
  b_.SetInsertPoint(wait);
  if (llvm::Triple(shared_.module.getTargetTriple()).isX86())
    b_.CreateIntrinsic(llvm::Intrinsic::x86_sse2_pause, {}, {});
  llvm::LoadInst* held = b_.CreateAlignedLoad(b_.getInt32Ty(), lock, llvm::Align(4));
  held->setAtomic(AtomicOrdering::Monotonic);
  b_.CreateCondBr(b_.CreateIsNull(held), attempt, wait);
  b_.SetInsertPoint(taken);
}

}  // namespace calotype::llvm_backend
