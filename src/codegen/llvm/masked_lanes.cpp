// Masked accesses of neighbours on machines that have no instruction for them. Where the mask is known they
// are a few accesses of 1, 2, 4 .. lanes; else all lanes at once where it is whole, or a loop over those that
// are on. LLVM would give every lane an access or a branch of its own, which takes long to compile.

#include <algorithm>
#include <bit>

#include "codegen/llvm/expr_emitter.h"
#include "codegen/llvm/values.h"

namespace calotype::llvm_backend {

using llvm::Value;

namespace {

constexpr int kFewLanes = 2;  // which are left to LLVM

llvm::BasicBlock* block_behind(Builder& b, const char* name) {
  return llvm::BasicBlock::Create(b.getContext(), name, b.GetInsertBlock()->getParent());
}

/// Room of the function, once for all times that the access runs.
llvm::AllocaInst* room_for(Builder& b, llvm::Type* type) {
  llvm::BasicBlock& entry = b.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  return at_entry.CreateAlloca(type);
}

struct Piece {
  int first, count;  ///< lanes; the count is a power of two
};

/// The lanes that a known mask has on.
std::vector<Piece> pieces_of(const llvm::Constant& mask, int lanes) {
  const auto on = [&](int lane) {
    const llvm::Constant* bit = mask.getAggregateElement(static_cast<unsigned>(lane));
    return lane < lanes && bit && bit->isOneValue();
  };
  std::vector<Piece> pieces;
  for (int lane = 0; lane < lanes;) {
    int run = 0;
    while (on(lane + run)) ++run;
    const int count = static_cast<int>(std::bit_floor(static_cast<unsigned>(run)));
    if (count > 0) pieces.push_back({lane, count});
    lane += std::max(count, 1);
  }
  return pieces;
}

}  // namespace

Value* ExprEmitter::load_pieces(const ir::BufferPtr& buffer, Type type, Value* pointer,
                                const llvm::Constant& mask) {
  const int lanes = type.lanes;
  Value* result = llvm::Constant::getNullValue(memory_type(b_.getContext(), type));
  for (const auto& [first, count] : pieces_of(mask, lanes)) {
    const Type part = type.with_lanes(count);
    Value* loaded =
        annotate(b_.CreateAlignedLoad(memory_type(b_.getContext(), part), offset(buffer, pointer, first),
                                      llvm::Align(static_cast<uint64_t>(type.bytes()))),
                 buffer);
    if (count == 1) {
      result = b_.CreateInsertElement(result, loaded, static_cast<uint64_t>(first));
      continue;
    }
    std::vector<int> widen(static_cast<std::size_t>(lanes), -1), pick;
    for (int i = 0; i < count; ++i) widen[static_cast<std::size_t>(first + i)] = i;
    for (int i = 0; i < lanes; ++i) pick.push_back(i >= first && i < first + count ? lanes + i : i);
    result = b_.CreateShuffleVector(result, b_.CreateShuffleVector(loaded, widen), pick);
  }
  return result;
}

void ExprEmitter::store_pieces(const ir::BufferPtr& buffer, Type type, Value* value, Value* pointer,
                               const llvm::Constant& mask) {
  for (const auto& [first, count] : pieces_of(mask, type.lanes)) {
    std::vector<int> taken;
    for (int i = 0; i < count; ++i) taken.push_back(first + i);
    Value* part = count == 1 ? b_.CreateExtractElement(value, static_cast<uint64_t>(first))
                             : b_.CreateShuffleVector(value, taken);
    annotate(b_.CreateAlignedStore(part, offset(buffer, pointer, first),
                                   llvm::Align(static_cast<uint64_t>(type.bytes()))),
             buffer);
  }
}

bool ExprEmitter::goes_lane_by_lane(Type type, Value* mask) const {
  return mask && type.lanes > kFewLanes && !masks_dense(type);
}

/// What comes of `whole` where every lane is on; else of `rest`, behind `some` for each lane that is, with
/// its number. Room in memory is used by the latter alone.
Value* ExprEmitter::by_mask(Value* mask, const MaskedAccess& access) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  llvm::Type* word = b_.getIntNTy(lanes);
  Value *bits = b_.CreateBitCast(mask, word), *none = llvm::ConstantInt::get(word, 0);
  llvm::BasicBlock *all = block_behind(b_, "whole"), *any = block_behind(b_, "some"),
                   *lane = block_behind(b_, "lane"), *rest = block_behind(b_, "rest"),
                   *done = block_behind(b_, "masked");
  b_.CreateCondBr(b_.CreateICmpEQ(bits, llvm::Constant::getAllOnesValue(word)), all, any);
  b_.SetInsertPoint(all);
  Value* of_all = access.whole();
  b_.CreateBr(done);
  b_.SetInsertPoint(any);
  access.before();
  b_.CreateCondBr(b_.CreateICmpEQ(bits, none), rest, lane);
  b_.SetInsertPoint(lane);
  llvm::PHINode* left = b_.CreatePHI(word, 2);
  left->addIncoming(bits, any);
  Value* number = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b_.getTrue());
  access.some(b_.CreateZExtOrTrunc(number, b_.getInt64Ty()));
  Value* others = b_.CreateAnd(left, b_.CreateSub(left, llvm::ConstantInt::get(word, 1)));
  left->addIncoming(others, lane);
  b_.CreateCondBr(b_.CreateICmpEQ(others, none), rest, lane);
  b_.SetInsertPoint(rest);
  Value* of_some = access.rest();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  if (!of_all) return nullptr;
  llvm::PHINode* result = b_.CreatePHI(of_all->getType(), 2);
  result->addIncoming(of_all, all);
  result->addIncoming(of_some, rest);
  return result;
}

/// As they are in memory; lanes that are off are 0.
Value* ExprEmitter::load_by_lanes(const ir::BufferPtr& buffer, Type type, Value* pointer, Value* mask) {
  if (const auto* known = llvm::dyn_cast<llvm::Constant>(mask))
    return load_pieces(buffer, type, pointer, *known);
  llvm::Type *memory = memory_type(b_.getContext(), type),
             *element = memory_type(b_.getContext(), type.element());
  const llvm::Align align(static_cast<uint64_t>(type.bytes()));
  llvm::AllocaInst* room = room_for(b_, memory);
  return by_mask(mask,
                 {.whole = [&] { return annotate(b_.CreateAlignedLoad(memory, pointer, align), buffer); },
                  .before = [&] { b_.CreateStore(llvm::Constant::getNullValue(memory), room); },
                  .some =
                      [&](Value* lane) {
                        Value* from = b_.CreateInBoundsGEP(element, pointer, lane);
                        Value* one = annotate(b_.CreateAlignedLoad(element, from, align), buffer);
                        b_.CreateStore(one, b_.CreateInBoundsGEP(element, room, lane));
                      },
                  .rest = [&]() -> Value* { return b_.CreateLoad(memory, room); }});
}

void ExprEmitter::store_by_lanes(const ir::BufferPtr& buffer, Type type, Value* value, Value* pointer,
                                 Value* mask) {
  if (const auto* known = llvm::dyn_cast<llvm::Constant>(mask))
    return store_pieces(buffer, type, value, pointer, *known);
  llvm::Type* element = memory_type(b_.getContext(), type.element());
  const llvm::Align align(static_cast<uint64_t>(type.bytes()));
  llvm::AllocaInst* room = room_for(b_, value->getType());
  by_mask(mask, {.whole = [&]() -> Value* {
                   annotate(b_.CreateAlignedStore(value, pointer, align), buffer);
                   return nullptr;
                 },
                 .before = [&] { b_.CreateStore(value, room); },
                 .some =
                     [&](Value* lane) {
                       Value* one = b_.CreateLoad(element, b_.CreateInBoundsGEP(element, room, lane));
                       Value* to = b_.CreateInBoundsGEP(element, pointer, lane);
                       annotate(b_.CreateAlignedStore(one, to, align), buffer);
                     },
                 .rest = [&]() -> Value* { return nullptr; }});
}

}  // namespace calotype::llvm_backend
