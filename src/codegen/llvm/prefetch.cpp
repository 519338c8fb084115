// Prefetches: a loop along each dimension of the box, and in the innermost the hint itself.
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/stmt_emitter.h"

namespace calotype::llvm_backend {

using llvm::Value;

void StmtEmitter::emit_prefetch(const ir::StmtNode& s) {
  Value* index = b_.CreateSExt(exprs_.emit(s.exprs[0]), b_.getInt64Ty());
  emit_prefetch_along(s, 1, index);
  exprs_.forget();
}

/// `next`: the count and step of the dimension still to be walked along.
void StmtEmitter::emit_prefetch_along(const ir::StmtNode& s, std::size_t next, Value* index) {
  const ir::BufferPtr& buffer = s.buffer();
  if (next == s.exprs.size()) {
    // The address may lie outside the memory, so that it is computed as a number.
    Value* pointer = environment_.buffers.at(buffer.get()).pointer;
    Value* bytes =
        b_.CreateMul(index, b_.getInt64(static_cast<std::uint64_t>(buffer->type.element().bytes())));
    Value* address = b_.CreateGEP(b_.getInt8Ty(), pointer, bytes);
    constexpr int read = 0, keep = 3, data = 1;
    b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                       {address, b_.getInt32(read), b_.getInt32(keep), b_.getInt32(data)});
    return;
  }
  Value* count = b_.CreateSExt(exprs_.emit(s.exprs[next]), b_.getInt64Ty());
  Value* step = b_.CreateSExt(exprs_.emit(s.exprs[next + 1]), b_.getInt64Ty());
  exprs_.forget();  // what is emitted below is known in the loop alone
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* body = new_block("prefetch");
  llvm::BasicBlock* after = new_block("prefetched");
  b_.CreateCondBr(b_.CreateICmpSGT(count, b_.getInt64(0)), body, after);
  b_.SetInsertPoint(body);
  llvm::PHINode* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  Value* advanced = b_.CreateAdd(i, b_.getInt64(1));
  i->addIncoming(b_.getInt64(0), before);
  i->addIncoming(advanced, body);
  emit_prefetch_along(s, next + 2, b_.CreateAdd(index, b_.CreateMul(i, step)));
  exprs_.forget();
  i->setIncomingBlock(1, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(advanced, count), body, after);
  b_.SetInsertPoint(after);
}

}  // namespace calotype::llvm_backend
