// Calls of functions that compute boxes. The code passes the pointers, coordinates, extents and strides of
// the boxes as an array of 64-bit slots; the runtime's side of the call (hooks.cpp) makes the structs of the
// C interface of them, so that the code knows nothing of their layout.
#include "codegen/llvm/extern.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/llvm/stmt_emitter.h"

namespace calotype::llvm_backend {

using llvm::Value;

std::vector<ExternRecord> extern_records(const std::vector<lower::Function>& functions) {
  std::vector<ExternRecord> records;
  for (const lower::Function& function : functions)
    ir::visit(function.body, [&](const ir::Stmt& s) {
      if (s->kind != ir::StmtKind::Extern) return;
      const ir::ExternCall* call = &s->extern_call();
      const auto is_it = [&](const ExternRecord& record) { return record.second == call; };
      if (std::none_of(records.begin(), records.end(), is_it))
        records.emplace_back(
            fmt::format("calotype_extern.{}.{}", records.size(), call->callee->function.name), call);
    });
  return records;
}

void StmtEmitter::emit_extern(const ir::StmtNode& s) {
  const ir::ExternCall& call = s.extern_call();
  llvm::Type* i64 = b_.getInt64Ty();
  Value* slots = entry_alloca(llvm::ArrayType::get(i64, s.exprs.size()), 8);
  const auto put = [&](std::size_t slot, Value* value) {
    b_.CreateStore(value, b_.CreateConstInBoundsGEP1_64(i64, slots, slot));
  };
  const auto wide = [&](const Expr& e) { return b_.CreateSExt(exprs_.emit(e), i64); };
  std::size_t next = 0;
  for (const ir::ExternCall::Box& box : call.boxes) {
    Value* pointer = environment_.buffers.at(box.buffer.get()).pointer;
    llvm::Type* element = memory_type(b_.getContext(), box.buffer->type.element());
    put(next, b_.CreateGEP(element, pointer, wide(s.exprs[next])));
    ++next;
    for (int i = 0; i < 3 * box.rank; ++i, ++next) put(next, wide(s.exprs[next]));
  }
  for (; next < s.exprs.size(); ++next) {
    const Expr& e = s.exprs[next];
    const Expr bits = e->type.is_float() ? ir::make(ir::Op::Bitcast, UInt(e->type.bits), {e}) : e;
    put(next, exprs_.emit(ir::make(ir::Op::Cast, Int(64), {bits})));
  }
  exprs_.forget();
  const auto record = std::find_if(shared_.externs.begin(), shared_.externs.end(),
                                   [&](const ExternRecord& known) { return known.second == &call; });
  llvm::FunctionCallee callee = shared_.module.getOrInsertFunction(
      "calotype_host_extern",
      llvm::FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()}, false));
  llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
  Value* status = b_.CreateCall(
      callee, {context(), shared_.module.getOrInsertGlobal(record->first, b_.getInt8Ty()), slots});
  fail_if(b_.CreateICmpNE(status, b_.getInt32(0)), status);
}

}  // namespace calotype::llvm_backend
