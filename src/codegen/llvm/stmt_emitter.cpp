// Statements: loops, conditions, allocations with their release on every way out, and checks.
#include "codegen/llvm/stmt_emitter.h"

#include <fmt/format.h>
#include <llvm/IR/MDBuilder.h>

#include <limits>

#include "codegen/llvm/backend.h"

namespace calotype::llvm_backend {

using llvm::Value;

StmtEmitter::StmtEmitter(ModuleEmitter& shared, llvm::Function* function, Environment environment)
    : shared_(shared),
      function_(function),
      b_(&function->getEntryBlock(), llvm::TargetFolder(shared.module.getDataLayout())),
      environment_(std::move(environment)),
      exprs_(b_, shared.settings, environment_) {}

void StmtEmitter::emit(const ir::Stmt& s) {
  switch (s->kind) {
    case ir::StmtKind::Block:
      for (const ir::Stmt& child : s->stmts) emit(child);
      return;
    case ir::StmtKind::Let: {
      Value* value = exprs_.emit(s->exprs[0]);
      exprs_.forget();
      Bound bound(environment_, s->symbol(), value, s->exprs[0]);
      return emit(s->body());
    }
    case ir::StmtKind::For:
      return emit_for(*s);
    case ir::StmtKind::If:
      return emit_if(*s);
    case ir::StmtKind::Store:
      exprs_.store(*s);
      return exprs_.forget();
    case ir::StmtKind::Allocate:
      return emit_allocate(*s);
    case ir::StmtKind::Check:
      return emit_check(*s);
    case ir::StmtKind::Print:
      return emit_print(*s);
    case ir::StmtKind::Barrier:
      internal_error("a barrier in host code");
    case ir::StmtKind::Note:
      return emit(s->body());
    case ir::StmtKind::Prefetch:
      return emit_prefetch(*s);
    case ir::StmtKind::Extern:
      return emit_extern(*s);
    case ir::StmtKind::Meter:
      return emit_meter(*s);
    case ir::StmtKind::Locked:
      return emit_locked(*s);
    case ir::StmtKind::Instruction:
      internal_error("an instruction of tiles in host code");
  }
}

void StmtEmitter::finish() {
  if (environment_.streams) complete_streams();
  b_.CreateRet(b_.getInt32(kGood));
}

llvm::BasicBlock* StmtEmitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(b_.getContext(), name, function_);
}

llvm::AllocaInst* StmtEmitter::entry_alloca(llvm::Type* type, std::uint64_t alignment) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  llvm::AllocaInst* memory = at_entry.CreateAlloca(type);
  memory->setAlignment(llvm::Align(alignment));
  return memory;
}

void StmtEmitter::emit_if(const ir::StmtNode& s) {
  Value* condition = exprs_.emit(s.exprs[0]);
  exprs_.forget();
  bool has_else = s.stmts.size() > 1 && s.stmts[1];
  llvm::BasicBlock* then = new_block("then");
  llvm::BasicBlock* otherwise = has_else ? new_block("else") : nullptr;
  llvm::BasicBlock* after = new_block("after");
  b_.CreateCondBr(condition, then, has_else ? otherwise : after);
  b_.SetInsertPoint(then);
  emit(s.stmts[0]);
  b_.CreateBr(after);
  if (has_else) {
    b_.SetInsertPoint(otherwise);
    emit(s.stmts[1]);
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

void StmtEmitter::emit_for(const ir::StmtNode& s) {
  const ir::LoopInfo& loop = s.loop();
  if (loop.binding != ir::Binding::Serial && loop.binding != ir::Binding::Parallel) {
    internal_error(fmt::format("the loop {} is still {}", loop.var->name, ir::to_string(loop.binding)));
  }
  llvm::Type* i64 = b_.getInt64Ty();
  Value* begin = b_.CreateSExt(exprs_.emit(s.exprs[0]), i64);
  Value* extent = b_.CreateSExt(exprs_.emit(s.exprs[1]), i64);
  exprs_.forget();
  Value* end = b_.CreateNSWAdd(begin, extent);
  if (loop.binding == ir::Binding::Parallel) return emit_parallel(s, begin, end);
  emit_loop(s, begin, end);
}

/// Tested at its end, behind a test that there is a first iteration at all: the form that later passes want.
void StmtEmitter::emit_loop(const ir::StmtNode& s, Value* begin, Value* end) {
  llvm::BasicBlock* body = new_block(s.loop().var->name.c_str());
  llvm::BasicBlock* after = new_block("end");
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), body, after);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  b_.SetInsertPoint(body);
  llvm::PHINode* counter = b_.CreatePHI(b_.getInt64Ty(), 2, s.loop().var->name);
  // Both ways in are known before anything uses the counter: folding while emitting would take a phi of one
  // value for it.
  Value* next = b_.CreateAdd(counter, b_.getInt64(1), "", /*HasNUW=*/false, /*HasNSW=*/true);
  counter->addIncoming(begin, before);
  counter->addIncoming(next, body);
  Value* variable = b_.CreateTrunc(counter, register_type(b_.getContext(), s.loop().var->type));
  {
    Bound bound(environment_, s.loop().var, variable);
    emit(s.body());
  }
  counter->setIncomingBlock(1, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), body, after);
  b_.SetInsertPoint(after);
}

void StmtEmitter::set_pointer(const ir::BufferPtr& buffer, Value* pointer) {
  auto it = environment_.buffers.find(buffer.get());
  if (it == environment_.buffers.end()) internal_error("the buffer " + buffer->name + " has no alias scope");
  it->second.pointer = pointer;
}

void StmtEmitter::emit_allocate(const ir::StmtNode& s) {
  switch (s.buffer()->space) {
    case ir::MemorySpace::Heap:
      return emit_heap(s);
    case ir::MemorySpace::Stack:
    case ir::MemorySpace::Register:
    case ir::MemorySpace::Local:
      return emit_stack(s);
    default:
      internal_error(
          fmt::format("{} memory for {} on the host", ir::to_string(s.buffer()->space), s.buffer()->name));
  }
}

void StmtEmitter::emit_heap(const ir::StmtNode& s) {
  const ir::BufferPtr& buffer = s.buffer();
  Value* bytes = b_.getInt64(static_cast<uint64_t>(buffer->type.element().bytes()));
  Value* lost = b_.getFalse();
  for (const Expr& extent : buffer->extents) {
    Value* wide = b_.CreateSExt(exprs_.emit(extent), b_.getInt64Ty());
    Value* product = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, bytes, wide);
    bytes = b_.CreateExtractValue(product, 0);
    lost = b_.CreateOr(lost, b_.CreateExtractValue(product, 1));
  }
  // More than there can be, which no allocator gives.
  bytes = b_.CreateSelect(lost, b_.getInt64(std::numeric_limits<std::int64_t>::max()), bytes);
  exprs_.forget();
  Value* memory = b_.CreateCall(shared_.calls.allocate, {context(), bytes}, buffer->name);
  llvm::BasicBlock *none = new_block("no.memory"), *good = new_block("allocated");
  b_.CreateCondBr(b_.CreateIsNull(memory), none, good,
                  llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  b_.SetInsertPoint(none);
  b_.CreateCall(shared_.calls.no_memory, {context(), b_.CreateGlobalString(buffer->name), bytes});
  fail(b_.getInt32(kOutOfMemory));
  b_.SetInsertPoint(good);
  set_pointer(buffer, memory);
  ways_out_.push_back({memory, buffer->stream_stores});
  emit(s.body());
  ways_out_.pop_back();
  if (buffer->stream_stores) complete_streams();
  b_.CreateCall(shared_.calls.release, {context(), memory});
  set_pointer(buffer, nullptr);  // a later copy of the loop has memory of its own
}

void StmtEmitter::emit_stack(const ir::StmtNode& s) {
  const ir::BufferPtr& buffer = s.buffer();
  std::int64_t elements = 1;
  for (const Expr& extent : buffer->extents) {
    auto constant = ir::as_int(extent);
    if (!constant) internal_error("the extents of " + buffer->name + " on the stack are not constant");
    elements *= *constant;
  }
  llvm::Type* element = memory_type(b_.getContext(), buffer->type.element());
  auto* type = llvm::ArrayType::get(element, static_cast<uint64_t>(std::max<std::int64_t>(elements, 1)));
  llvm::AllocaInst* memory = entry_alloca(type, 64);
  memory->setName(buffer->name);
  llvm::ConstantInt* bytes = b_.getInt64(static_cast<uint64_t>(elements * buffer->type.element().bytes()));
  b_.CreateLifetimeStart(memory, bytes);
  set_pointer(buffer, memory);
  emit(s.body());
  b_.CreateLifetimeEnd(memory, bytes);
  set_pointer(buffer, nullptr);
}

StmtEmitter::WayOut& StmtEmitter::way_out(std::size_t depth) {
  if (ways_out_[depth].block) return ways_out_[depth];
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock* block = new_block(depth == 0 ? "failed" : "release");
  b_.SetInsertPoint(block);
  llvm::PHINode* status = b_.CreatePHI(b_.getInt32Ty(), 2);
  if (depth == 0) {
    b_.CreateRet(status);
  } else {
    if (ways_out_[depth].streamed) complete_streams();
    b_.CreateCall(shared_.calls.release, {context(), ways_out_[depth].memory});
    WayOut& outer = way_out(depth - 1);
    outer.status->addIncoming(status, block);
    b_.CreateBr(outer.block);
  }
  ways_out_[depth].block = block;
  ways_out_[depth].status = status;
  return ways_out_[depth];
}

void StmtEmitter::fail(Value* status) {
  WayOut& out = way_out(ways_out_.size() - 1);
  out.status->addIncoming(status, b_.GetInsertBlock());
  b_.CreateBr(out.block);
}

void StmtEmitter::fail_if(Value* bad, Value* status) {
  WayOut& out = way_out(ways_out_.size() - 1);
  out.status->addIncoming(status, b_.GetInsertBlock());
  llvm::BasicBlock* good = new_block("good");
  b_.CreateCondBr(bad, out.block, good, llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights());
  b_.SetInsertPoint(good);
}

namespace {

/// The letter by which the runtime formats a value of a failed check.
char kind_letter(Type type) { return type.is_float() ? 'f' : type.is_int() ? 'i' : 'u'; }

/// The letter by which it formats a value that is printed.
char printed_letter(Type type) {
  if (type.is_bool()) return 'b';
  if (type.is_float()) return type.bits == 64 ? 'd' : 's';
  return type.is_int() ? 'i' : 'u';
}

}  // namespace

void StmtEmitter::emit_print(const ir::StmtNode& s) {
  Value* condition = exprs_.emit(s.exprs[0]);
  exprs_.forget();
  llvm::BasicBlock* prints = new_block("print");
  llvm::BasicBlock* after = new_block("printed");
  b_.CreateCondBr(condition, prints, after);
  b_.SetInsertPoint(prints);
  const std::size_t count = s.exprs.size() - 1;
  llvm::Type* i64 = b_.getInt64Ty();
  Value* values = entry_alloca(llvm::ArrayType::get(i64, std::max<std::size_t>(count, 1)), 8);
  std::string kinds;
  for (std::size_t i = 0; i < count; ++i) {
    const Expr& e = s.exprs[i + 1];
    const Expr bits = e->type.is_float() ? ir::make(ir::Op::Bitcast, UInt(e->type.bits), {e}) : e;
    Value* value = exprs_.emit(ir::make(ir::Op::Cast, Int(64), {bits}));
    b_.CreateStore(value, b_.CreateConstInBoundsGEP1_64(i64, values, i));
    kinds += printed_letter(e->type);
  }
  exprs_.forget();
  b_.CreateCall(shared_.calls.print,
                {context(), b_.CreateGlobalString(s.text()), values, b_.CreateGlobalString(kinds)});
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void StmtEmitter::emit_check(const ir::StmtNode& s) {
  Value* condition = exprs_.emit(s.exprs[0]);
  exprs_.forget();
  llvm::BasicBlock* broken = new_block("check.failed");
  llvm::BasicBlock* good = new_block("checked");
  b_.CreateCondBr(condition, good, broken, llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights());
  b_.SetInsertPoint(broken);
  std::size_t count = s.exprs.size() - 1;
  llvm::Type* i64 = b_.getInt64Ty();
  Value* values = entry_alloca(llvm::ArrayType::get(i64, std::max<std::size_t>(count, 1)), 8);
  std::string kinds;
  for (std::size_t i = 0; i < count; ++i) {
    const Expr& e = s.exprs[i + 1];
    const Type as = e->type.is_float() ? Float(64) : Int(64);
    Value* slot = b_.CreateConstInBoundsGEP1_64(i64, values, i);
    Value* value = exprs_.emit(ir::make(ir::Op::Cast, as, {e}));
    b_.CreateStore(value, slot);
    kinds += kind_letter(e->type);
  }
  exprs_.forget();
  b_.CreateCall(shared_.calls.check_failed,
                {context(), b_.CreateGlobalString(s.text()), values, b_.CreateGlobalString(kinds)});
  fail(b_.getInt32(kCheckFailed));
  b_.SetInsertPoint(good);
}

}  // namespace calotype::llvm_backend
