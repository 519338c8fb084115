// Types and small building blocks shared by the emitters.
#include "codegen/llvm/values.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

#include "calotype/error.h"

namespace calotype::llvm_backend {

namespace {

llvm::Type* in_lanes(llvm::Type* element, int lanes) {
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

}  // namespace

llvm::Type* register_type(llvm::LLVMContext& context, Type type) {
  llvm::Type* element = nullptr;
  if (!type.is_float() || type.bits == 16) {
    element = llvm::Type::getIntNTy(context, type.bits);
  } else {
    element = type.bits == 32 ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context);
  }
  return in_lanes(element, type.lanes);
}

llvm::Type* memory_type(llvm::LLVMContext& context, Type type) {
  return register_type(context, type.is_bool() ? UInt(8, type.lanes) : type);
}

llvm::Type* with_element(llvm::Type* like, llvm::Type* element) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like);
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

int lanes_of(llvm::Value* value) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? static_cast<int>(vector->getNumElements()) : 1;
}

llvm::Value* splat(Builder& b, llvm::Value* value, int lanes) {
  return lanes == 1 ? value : b.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

llvm::Value* repeated(Builder& b, llvm::Value* vector, int times) {
  if (times == 1) return vector;
  // As one integer, which machines load into all lanes of a register.
  const unsigned lanes = static_cast<unsigned>(lanes_of(vector)), all = lanes * static_cast<unsigned>(times);
  llvm::Type* element = vector->getType()->getScalarType();
  const unsigned bits = element->isIntegerTy() ? lanes * element->getIntegerBitWidth() : 0;
  if (bits == 16 || bits == 32 || bits == 64) {
    llvm::Value* whole = b.CreateBitCast(vector, b.getIntNTy(bits));
    return b.CreateBitCast(splat(b, whole, times), llvm::FixedVectorType::get(element, all));
  }
  std::vector<int> taken;
  for (unsigned i = 0; i < all; ++i) taken.push_back(static_cast<int>(i % lanes));
  return b.CreateShuffleVector(vector, taken);
}

llvm::Constant* iota(llvm::Type* element, int lanes, std::int64_t step) {
  if (lanes == 1) return llvm::ConstantInt::get(element, 0);
  std::vector<llvm::Constant*> values;
  for (int i = 0; i < lanes; ++i) values.push_back(llvm::ConstantInt::getSigned(element, i * step));
  return llvm::ConstantVector::get(values);
}

llvm::Value* lane_by_lane(Builder& b, llvm::ArrayRef<llvm::Value*> operands,
                          const std::function<llvm::Value*(llvm::ArrayRef<llvm::Value*>)>& f) {
  int lanes = lanes_of(operands[0]);
  if (lanes == 1) return f(operands);
  llvm::Value* result = nullptr;
  for (int i = 0; i < lanes; ++i) {
    std::vector<llvm::Value*> scalars;
    for (llvm::Value* operand : operands)
      scalars.push_back(b.CreateExtractElement(operand, static_cast<uint64_t>(i)));
    llvm::Value* lane = f(scalars);
    if (!result) result = llvm::PoisonValue::get(in_lanes(lane->getType(), lanes));
    result = b.CreateInsertElement(result, lane, static_cast<uint64_t>(i));
  }
  return result;
}

llvm::Value* multiple_of(Builder& b, llvm::Value* value, std::int64_t multiple) {
  const std::int64_t power = multiple & -multiple;
  if (power <= 1 || !value->getType()->isIntegerTy()) return value;
  return b.CreateAnd(value, llvm::ConstantInt::getSigned(value->getType(), -power));
}

void note_alignment(llvm::LoadInst& pointer, const ir::Buffer& buffer) {
  if (buffer.alignment <= 1) return;
  llvm::LLVMContext& context = pointer.getContext();
  llvm::Metadata* bytes = llvm::ConstantAsMetadata::get(
      llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), static_cast<std::uint64_t>(buffer.alignment)));
  pointer.setMetadata(llvm::LLVMContext::MD_align, llvm::MDNode::get(context, {bytes}));
}

void internal_error(const std::string& message) {
  throw Error({.kind = ErrorKind::Internal, .message = "CPU backend: " + message});
}

}  // namespace calotype::llvm_backend
