// Atomic updates: an instruction where there is one, else comparing and exchanging until nobody came between.
// The order among them is free, and what follows the loop waits for all its threads, so no fences are needed.
#include "codegen/llvm/expr_emitter.h"

namespace calotype::llvm_backend {

using ir::Op;
using llvm::AtomicOrdering;
using llvm::Value;

namespace {

/// The operation in LLVM's list that means the same; none for products, float extremes and narrow floats.
std::optional<llvm::AtomicRMWInst::BinOp> native(Op op, Type type) {
  using B = llvm::AtomicRMWInst;
  if (type.is_float()) return op == Op::Add && !is_narrow_float(type) ? std::optional(B::FAdd) : std::nullopt;
  switch (op) {
    case Op::Add:
      return B::Add;
    case Op::And:
    case Op::BitAnd:
      return B::And;
    case Op::Or:
    case Op::BitOr:
      return B::Or;
    case Op::BitXor:
      return B::Xor;
    case Op::Min:
      return type.is_int() ? B::Min : B::UMin;
    case Op::Max:
      return type.is_int() ? B::Max : B::UMax;
    default:
      return std::nullopt;
  }
}

}  // namespace

void ExprEmitter::atomic_update(const ir::Atomic& update, Type type, Value* pointer, Value* term) {
  const auto op = native(update.op, type);
  if (!op) return exchange_until_done(update, type, pointer, term);
  Value* operand = type.is_bool() ? b_.CreateZExt(term, b_.getInt8Ty()) : term;
  annotate(b_.CreateAtomicRMW(*op, pointer, operand, llvm::Align(static_cast<uint64_t>(type.bytes())),
                              AtomicOrdering::Monotonic),
           update.buffer);
}

void ExprEmitter::exchange_until_done(const ir::Atomic& update, Type type, Value* pointer, Value* term) {
  const llvm::Align align(static_cast<uint64_t>(type.bytes()));
  llvm::Type* bits = b_.getIntNTy(static_cast<unsigned>(type.bytes()) * 8);
  llvm::LoadInst* first = b_.CreateAlignedLoad(bits, pointer, align);
  first->setAtomic(AtomicOrdering::Monotonic);
  annotate(first, update.buffer);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* retry = llvm::BasicBlock::Create(b_.getContext(), "exchange", before->getParent());
  auto* done = llvm::BasicBlock::Create(b_.getContext(), "exchanged", before->getParent());
  b_.CreateBr(retry);
  b_.SetInsertPoint(retry);
  llvm::PHINode* seen = b_.CreatePHI(bits, 2);
  seen->addIncoming(first, before);
  Value* next = combined(update.op, type, seen, term);
  auto* exchange = b_.CreateAtomicCmpXchg(pointer, seen, next, align, AtomicOrdering::Monotonic,
                                          AtomicOrdering::Monotonic);
  annotate(exchange, update.buffer);
  seen->addIncoming(b_.CreateExtractValue(exchange, 0), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(exchange, 1), done, retry);
  b_.SetInsertPoint(done);
}

/// The bits of `old op term`, from the bits of `old`.
Value* ExprEmitter::combined(Op op, Type type, Value* old_bits, Value* term) {
  llvm::Type* held = register_type(b_.getContext(), type);
  Value* old = type.is_bool() ? b_.CreateICmpNE(old_bits, llvm::Constant::getNullValue(old_bits->getType()))
                              : b_.CreateBitCast(old_bits, held);
  const ir::SymbolPtr left = ir::make_symbol(ir::SymbolKind::Let, "old", type),
                      right = ir::make_symbol(ir::SymbolKind::Let, "term", type);
  Bound bound_left(environment_, left, old), bound_right(environment_, right, term);
  MemoScope scope(*this, /*fresh=*/true);
  Value* result = emit(ir::make(op, type, {ir::make_var(left), ir::make_var(right)}));
  return type.is_bool() ? b_.CreateZExt(result, old_bits->getType())
                        : b_.CreateBitCast(result, old_bits->getType());
}

void ExprEmitter::atomic_store(const ir::StmtNode& s) {
  const ir::Atomic& update = *s.atomic();
  const Type type = s.exprs[0]->type;
  Value* terms = emit(s.exprs[0]);
  Value* indices = emit(s.exprs[2]);
  Value* mask = ir::as_int(s.exprs[1]) == 1 ? nullptr : emit(s.exprs[1]);
  const auto one = [&](Value* lane) {
    const auto part = [&](Value* v) { return lanes_of(v) > 1 ? b_.CreateExtractElement(v, lane) : v; };
    atomic_update(update, type.element(), address(update.buffer, part(indices)), part(terms));
  };
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, function);
  };
  llvm::BasicBlock *before = b_.GetInsertBlock(), *lane_body = block("lane"), *next = block("lane.next"),
                   *after = block("lanes.end");
  b_.CreateBr(lane_body);
  b_.SetInsertPoint(lane_body);
  llvm::PHINode* lane = b_.CreatePHI(b_.getInt64Ty(), 2);
  lane->addIncoming(b_.getInt64(0), before);
  if (mask) {
    llvm::BasicBlock* runs = block("lane.runs");
    b_.CreateCondBr(lanes_of(mask) > 1 ? b_.CreateExtractElement(mask, lane) : mask, runs, next);
    b_.SetInsertPoint(runs);
  }
  one(lane);
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  Value* following = b_.CreateAdd(lane, b_.getInt64(1));
  lane->addIncoming(following, next);
  b_.CreateCondBr(b_.CreateICmpULT(following, b_.getInt64(static_cast<uint64_t>(type.lanes))), lane_body,
                  after);
  b_.SetInsertPoint(after);
}

}  // namespace calotype::llvm_backend
