// Loads and stores. A vector access is dense, strided by a small constant (dense pieces and shuffles) or
// general (gather, scatter). Lanes whose predicate is false touch no memory.
#include <fmt/format.h>

#include <algorithm>

#include "codegen/llvm/expr_emitter.h"

namespace calotype::llvm_backend {

using ir::Op;
using llvm::Value;

namespace {

/// What lanes keep that are not gathered: no vector of indices. LLVM 19 takes one register for both where
/// they are equal, zeros for example, and an instruction that gathers into its own indices is not legal.
llvm::Constant* no_index(llvm::Type* type) {
  auto* vector = llvm::cast<llvm::FixedVectorType>(type);
  const unsigned bits = vector->getScalarSizeInBits();
  llvm::Constant* element = llvm::ConstantInt::get(
      type->getContext(), llvm::APInt::getSplat(bits, llvm::APInt(8, std::uint64_t{0xa5})));
  return llvm::ConstantExpr::getBitCast(llvm::ConstantVector::getSplat(vector->getElementCount(), element),
                                        type);
}

/// Largest constant stride that is loaded as dense pieces.
constexpr std::int64_t kMaxDenseStride = 4;

Value* from_memory(Builder& b, Type type, Value* value) {
  return type.is_bool() ? b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType())) : value;
}
Value* to_memory(Builder& b, Type type, Value* value) {
  return type.is_bool() ? b.CreateZExt(value, with_element(value->getType(), b.getInt8Ty())) : value;
}

Value* reversed(Builder& b, Value* value) {
  std::vector<int> lanes;
  for (int i = lanes_of(value); i-- > 0;) lanes.push_back(i);
  return b.CreateShuffleVector(value, lanes);
}

bool is_true(const Expr& predicate) { return !predicate.defined() || ir::as_int(predicate) == 1; }

}  // namespace

Expr combined_index(Op op, const Expr& x, const Expr& y) {
  if (ir::is_const(x) && ir::is_const(y)) return ir::fold(op, x->type, {x, y});
  if (op == Op::Mul) {
    if (ir::is_zero(x) || ir::is_one(y)) return x;
    if (ir::is_zero(y) || ir::is_one(x)) return y;
  } else {
    if (ir::is_zero(y)) return x;
    if (ir::is_zero(x) && op == Op::Add) return y;
  }
  return ir::make(op, x->type, {x, y});
}

Expr ExprEmitter::look_through(const Expr& e) const {
  if (e->op != Op::Variable) return e;
  auto it = environment_.vector_lets.find(ir::symbol_of(e).get());
  return it == environment_.vector_lets.end() ? e : look_through(it->second);
}

/// The index as base + i * stride in lane i, if its form shows that.
std::optional<ExprEmitter::Affine> ExprEmitter::as_affine(const Expr& index) const {
  const Expr e = look_through(index);
  if (e->op == Op::Ramp && e->args[0]->type.lanes == 1) return Affine{e->args[0], e->args[1]};
  if (e->op == Op::Broadcast && e->args[0]->type.lanes == 1) {
    return Affine{e->args[0], ir::make_zero(e->type.element())};
  }
  if (e->op != Op::Add && e->op != Op::Sub && e->op != Op::Mul) return std::nullopt;
  auto x = as_affine(e->args[0]), y = as_affine(e->args[1]);
  if (!x || !y) return std::nullopt;
  if (e->op != Op::Mul)
    return Affine{combined_index(e->op, x->base, y->base), combined_index(e->op, x->stride, y->stride)};
  if (!ir::is_zero(y->stride)) std::swap(x, y);
  if (!ir::is_zero(y->stride)) return std::nullopt;
  return Affine{combined_index(Op::Mul, x->base, y->base), combined_index(Op::Mul, x->stride, y->base)};
}

const BufferRef& ExprEmitter::buffer_ref(const ir::BufferPtr& buffer) const {
  auto it = environment_.buffers.find(buffer.get());
  if (it == environment_.buffers.end()) internal_error("the buffer " + buffer->name + " is not known here");
  return it->second;
}

llvm::Instruction* ExprEmitter::annotate(llvm::Instruction* access, const ir::BufferPtr& buffer) const {
  const BufferRef& ref = buffer_ref(buffer);
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, ref.scope);
  if (ref.disjoint) access->setMetadata(llvm::LLVMContext::MD_noalias, ref.disjoint);
  if (buffer->read_only && llvm::isa<llvm::LoadInst>(access)) {
    access->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  }
  if (buffer->stream_loads)
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(access)) stream_load(*load);
  return access;
}

Value* ExprEmitter::address(const ir::BufferPtr& buffer, Value* index) {
  Value* wide = b_.CreateSExt(index, with_element(index->getType(), b_.getInt64Ty()));
  return b_.CreateInBoundsGEP(memory_type(b_.getContext(), buffer->type.element()),
                              buffer_ref(buffer).pointer, wide);
}

Value* ExprEmitter::offset(const ir::BufferPtr& buffer, Value* pointer, std::int64_t elements) {
  return b_.CreateConstInBoundsGEP1_64(memory_type(b_.getContext(), buffer->type.element()), pointer,
                                       static_cast<uint64_t>(elements));
}

/// One pointer a lane. What all lanes share is added as a scalar, which leaves the vector part narrow where
/// it is.
Value* ExprEmitter::pointers(const ir::BufferPtr& buffer, const Expr& index) {
  const Expr e = look_through(index);
  llvm::Type* element = memory_type(b_.getContext(), buffer->type.element());
  if (e->op == Op::Add) {
    for (int side : {0, 1}) {
      const Expr shared = look_through(e->args[static_cast<std::size_t>(side)]);
      if (shared->op != Op::Broadcast || shared->args[0]->type.lanes != 1) continue;
      Value* base = address(buffer, emit(shared->args[0]));
      return b_.CreateInBoundsGEP(element, base, emit(e->args[static_cast<std::size_t>(1 - side)]));
    }
  }
  return b_.CreateInBoundsGEP(element, buffer_ref(buffer).pointer, emit(e));
}

/// Whether the machine itself can mask a dense access of these elements.
bool ExprEmitter::masks_dense(Type type) const {
  const Machine& machine = settings_.machine;
  return machine.avx512 || (machine.avx2 && type.bits >= 32);
}

Value* ExprEmitter::dense_load(const ir::BufferPtr& buffer, Type type, Value* pointer, Value* mask) {
  if (goes_lane_by_lane(type, mask)) return from_memory(b_, type, load_by_lanes(buffer, type, pointer, mask));
  llvm::Type* memory = memory_type(b_.getContext(), type);
  llvm::Align align(static_cast<uint64_t>(type.bytes()));
  llvm::Instruction* access = mask ? static_cast<llvm::Instruction*>(b_.CreateMaskedLoad(
                                         memory, pointer, align, mask, llvm::Constant::getNullValue(memory)))
                                   : b_.CreateAlignedLoad(memory, pointer, align);
  return from_memory(b_, type, annotate(access, buffer));
}

void ExprEmitter::dense_store(const ir::BufferPtr& buffer, Type type, Value* value, Value* pointer,
                              Value* mask) {
  llvm::Align align(static_cast<uint64_t>(type.bytes()));
  value = to_memory(b_, type, value);
  if (goes_lane_by_lane(type, mask)) return store_by_lanes(buffer, type, value, pointer, mask);
  if (!mask && streams(buffer, type)) return stream_store(buffer, type, value, pointer);
  annotate(mask ? static_cast<llvm::Instruction*>(b_.CreateMaskedStore(value, pointer, align, mask))
                : b_.CreateAlignedStore(value, pointer, align),
           buffer);
}

Value* ExprEmitter::load(const Expr& e) {
  if (e->op == Op::Call) internal_error("a call of " + ir::callee_of(e)->name + " is left");
  if (e->op == Op::Shuffle || e->op == Op::ShuffleXor) internal_error("a shuffle of lanes on a host");
  bool guarded = e->op == Op::LoadIf;
  if (e->args.size() != (guarded ? 2u : 1u))
    internal_error("a load with more than one index: storage is not flat");
  const ir::BufferPtr& buffer = ir::buffer_of(e);
  const Expr predicate = guarded && !is_true(e->args[0]) ? e->args[0] : Expr();
  const Expr& index = e->args.back();
  if (e->type.lanes == 1) return load_scalar(buffer, index, predicate);
  if (auto rows = as_rows(index)) return load_rows(buffer, e->type, *rows, predicate);
  return load_vector(buffer, e->type, index, predicate.defined() ? emit(predicate) : nullptr);
}

Value* ExprEmitter::load_scalar(const ir::BufferPtr& buffer, const Expr& index, const Expr& predicate) {
  const Type type = buffer->type.element();
  if (!predicate.defined()) return dense_load(buffer, type, address(buffer, emit(index)), nullptr);
  Value* condition = emit(predicate);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* then = llvm::BasicBlock::Create(b_.getContext(), "load", before->getParent());
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "loaded", before->getParent());
  b_.CreateCondBr(condition, then, after);
  b_.SetInsertPoint(then);
  Value* value = nullptr;
  {
    MemoScope scope(*this, /*fresh=*/false);
    value = dense_load(buffer, type, address(buffer, emit(index)), nullptr);
  }
  llvm::BasicBlock* loaded = b_.GetInsertBlock();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* phi = b_.CreatePHI(value->getType(), 2);
  phi->addIncoming(llvm::Constant::getNullValue(value->getType()), before);
  phi->addIncoming(value, loaded);
  return phi;
}

Value* ExprEmitter::load_vector(const ir::BufferPtr& buffer, Type type, const Expr& index, Value* mask) {
  auto affine = as_affine(index);
  auto stride = affine ? ir::as_int(affine->stride) : std::nullopt;
  if (!stride) return gather(buffer, type, index, mask);
  if (*stride == 0 && !mask) return splat(b_, load_scalar(buffer, affine->base, {}), type.lanes);
  if (*stride == 1) return dense_load(buffer, type, address(buffer, emit(affine->base)), mask);
  if (*stride == -1) {
    Value* last = offset(buffer, address(buffer, emit(affine->base)), 1 - type.lanes);
    return reversed(b_, dense_load(buffer, type, last, mask ? reversed(b_, mask) : nullptr));
  }
  if (!mask && is_column(*buffer, type, affine->base, *stride))
    return load_column(buffer, type, *ir::as_int(affine->base), static_cast<int>(*stride));
  bool dense = *stride > 1 && *stride <= kMaxDenseStride && (!mask || masks_dense(type));
  if (!dense) return gather(buffer, type, index, mask);
  if (!mask && whole_run_is_ours(*buffer, affine->base, *stride, type.lanes)) {
    const std::int64_t lead = *ir::as_int(affine->base) % *stride;
    return load_strided(buffer, type,
                        b_.getInt64(static_cast<std::uint64_t>(*ir::as_int(affine->base) - lead)),
                        static_cast<int>(*stride), mask, static_cast<int>(lead));
  }
  return load_strided(buffer, type, emit(affine->base), static_cast<int>(*stride), mask, std::nullopt);
}

/// Element p of the strided run lies in piece p / lanes of `lanes` elements, at p % lanes. Unmasked, a
/// piece that would go further is moved back so that it ends with the last element: nothing beyond the run is
/// touched. Masked, the mask sees to that. With a `lead` the run begins as many elements after `base`, and
/// all pieces may be touched.
Value* ExprEmitter::load_strided(const ir::BufferPtr& buffer, Type type, Value* base, int stride, Value* mask,
                                 std::optional<int> lead) {
  const int lanes = type.lanes;
  const int length = stride * (lanes - 1) + 1;
  Value* pointer = address(buffer, base);
  Value* result = nullptr;
  std::vector<int> taken(static_cast<std::size_t>(lanes));
  for (int i = 0; i < lanes; ++i) taken[static_cast<std::size_t>(i)] = i;
  for (int piece = 0; piece < stride; ++piece) {
    const int first = mask || lead ? piece * lanes : std::min(piece * lanes, length - lanes);
    std::vector<int> pick = taken, expand(static_cast<std::size_t>(lanes), lanes);
    bool any = false;
    for (int i = 0; i < lanes; ++i) {
      const int p = lead.value_or(0) + i * stride;
      if (p / lanes != piece) continue;
      pick[static_cast<std::size_t>(i)] = lanes + p - first;
      expand[static_cast<std::size_t>(p - first)] = i;
      any = true;
    }
    if (!any) continue;
    Value* piece_mask = nullptr;
    if (mask) {
      piece_mask = b_.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), expand);
    }
    Value* loaded = dense_load(buffer, type, offset(buffer, pointer, first), piece_mask);
    if (!result) result = llvm::PoisonValue::get(loaded->getType());
    result = b_.CreateShuffleVector(result, loaded, pick);
  }
  return result;
}

Value* ExprEmitter::gather(const ir::BufferPtr& buffer, Type type, const Expr& index, Value* mask) {
  llvm::Type* memory = memory_type(b_.getContext(), type);
  auto affine = as_affine(index);
  bool in_hardware = settings_.machine.avx2 && type.bits >= 32 && type.lanes >= 4;
  if (mask || (in_hardware && !affine)) {
    llvm::Align align(static_cast<uint64_t>(type.bytes()));
    llvm::Constant* zero = llvm::Constant::getNullValue(memory);
    llvm::Instruction* access =
        b_.CreateMaskedGather(memory, pointers(buffer, index), align, mask, mask ? no_index(memory) : zero);
    Value* loaded = annotate(access, buffer);
    return from_memory(b_, type, mask ? b_.CreateSelect(mask, loaded, zero) : loaded);
  }
  // A scalar load a lane: addresses of constant steps cost nothing, and machines gather no faster than this.
  Value* base = affine ? address(buffer, emit(affine->base)) : pointers(buffer, index);
  Value* stride = affine ? b_.CreateSExt(emit(affine->stride), b_.getInt64Ty()) : nullptr;
  llvm::Type* element = memory_type(b_.getContext(), type.element());
  Value* result = llvm::PoisonValue::get(register_type(b_.getContext(), type));
  for (int i = 0; i < type.lanes; ++i) {
    auto lane = static_cast<uint64_t>(i);
    Value* pointer = affine ? b_.CreateInBoundsGEP(element, base, b_.CreateMul(stride, b_.getInt64(lane)))
                            : b_.CreateExtractElement(base, lane);
    result = b_.CreateInsertElement(result, dense_load(buffer, type.element(), pointer, nullptr), lane);
  }
  return result;
}

void ExprEmitter::store(const ir::StmtNode& s) {
  if (s.exprs.size() != 3) internal_error("a store with more than one index: storage is not flat");
  if (s.atomic()) return atomic_store(s);
  const Expr &value = s.exprs[0], &index = s.exprs[2];
  const Expr predicate = is_true(s.exprs[1]) ? Expr() : look_through(s.exprs[1]);
  bool uniform = predicate.defined() && (predicate->type.lanes == 1 || predicate->op == Op::Broadcast);
  auto run = [&](const Expr& mask) {
    Value* stored = emit(value);
    if (value->type.lanes == 1) {
      dense_store(s.buffer(), value->type, stored, address(s.buffer(), emit(index)), nullptr);
    } else {
      Value* lanes = mask.defined() ? emit(mask) : nullptr;
      if (auto rows = as_rows(index))
        store_rows(s.buffer(), value->type, stored, *rows, lanes);
      else
        store_vector(s.buffer(), value->type, stored, index, lanes);
    }
  };
  if (!uniform) return run(predicate);
  Value* condition = emit(predicate->op == Op::Broadcast ? predicate->args[0] : predicate);
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  auto* then = llvm::BasicBlock::Create(b_.getContext(), "store", function);
  auto* after = llvm::BasicBlock::Create(b_.getContext(), "stored", function);
  b_.CreateCondBr(condition, then, after);
  b_.SetInsertPoint(then);
  MemoScope scope(*this, /*fresh=*/false);
  run({});
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void ExprEmitter::store_vector(const ir::BufferPtr& buffer, Type type, Value* value, const Expr& index,
                               Value* mask) {
  auto affine = as_affine(index);
  const std::int64_t stride =
      affine ? ir::as_int(affine->stride).value_or(0) : 0;  // 0: no constant that helps
  if (stride == 1) return dense_store(buffer, type, value, address(buffer, emit(affine->base)), mask);
  if (stride == -1) {
    Value* last = offset(buffer, address(buffer, emit(affine->base)), 1 - type.lanes);
    return dense_store(buffer, type, reversed(b_, value), last, mask ? reversed(b_, mask) : nullptr);
  }
  // What lies between the elements belongs to others, so dense pieces need hardware that masks them.
  if (stride > 1 && stride <= kMaxDenseStride && settings_.machine.avx512) {
    return store_strided(buffer, type, value, emit(affine->base), static_cast<int>(stride), mask);
  }
  scatter(buffer, type, value, index, mask);
}

void ExprEmitter::store_strided(const ir::BufferPtr& buffer, Type type, Value* value, Value* base, int stride,
                                Value* mask) {
  const int lanes = type.lanes;
  Value* pointer = address(buffer, base);
  if (!mask) mask = llvm::Constant::getAllOnesValue(with_element(value->getType(), b_.getInt1Ty()));
  for (int piece = 0; piece < stride; ++piece) {
    std::vector<int> spread, expand;
    bool any = false;
    for (int p = piece * lanes; p < (piece + 1) * lanes; ++p) {
      bool here = p % stride == 0;
      any = any || here;
      spread.push_back(here ? p / stride : -1);
      expand.push_back(here ? p / stride : lanes);
    }
    if (!any) continue;
    Value* piece_mask = b_.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), expand);
    dense_store(buffer, type, b_.CreateShuffleVector(value, spread), offset(buffer, pointer, piece * lanes),
                piece_mask);
  }
}

/// Lanes in order, so that of equal addresses the last one stays.
void ExprEmitter::scatter(const ir::BufferPtr& buffer, Type type, Value* value, const Expr& index,
                          Value* mask) {
  if (mask) {
    annotate(b_.CreateMaskedScatter(to_memory(b_, type, value), pointers(buffer, index),
                                    llvm::Align(static_cast<uint64_t>(type.bytes())), mask),
             buffer);
    return;
  }
  auto affine = as_affine(index);
  Value* base = affine ? address(buffer, emit(affine->base)) : pointers(buffer, index);
  Value* stride = affine ? b_.CreateSExt(emit(affine->stride), b_.getInt64Ty()) : nullptr;
  llvm::Type* element = memory_type(b_.getContext(), type.element());
  for (int i = 0; i < type.lanes; ++i) {
    auto lane = static_cast<uint64_t>(i);
    Value* pointer = affine ? b_.CreateInBoundsGEP(element, base, b_.CreateMul(stride, b_.getInt64(lane)))
                            : b_.CreateExtractElement(base, lane);
    dense_store(buffer, type.element(), b_.CreateExtractElement(value, lane), pointer, nullptr);
  }
}

}  // namespace calotype::llvm_backend
