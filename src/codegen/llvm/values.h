#pragma once
// How values of the language look in LLVM. In registers a Bool is i1 and the 16-bit floats are i16 (their
// bits: selects, shuffles and copies then cost what they cost for integers); in memory a Bool is i8.

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <string>

#include "calotype/type.h"
#include "ir/symbol.h"

namespace calotype::llvm_backend {

using Builder = llvm::IRBuilderBase;

llvm::Type* register_type(llvm::LLVMContext& context, Type type);
llvm::Type* memory_type(llvm::LLVMContext& context, Type type);

/// The same lanes as `like` (a scalar or a fixed vector) with another element.
llvm::Type* with_element(llvm::Type* like, llvm::Type* element);
int lanes_of(llvm::Value* value);
/// `value` in every lane; the value itself for one lane.
llvm::Value* splat(Builder& b, llvm::Value* value, int lanes);
/// The lanes of a vector so many times, one after the other.
llvm::Value* repeated(Builder& b, llvm::Value* vector, int times);
/// An integer vector 0, step, 2 * step, ...; the constant 0 for one lane.
llvm::Constant* iota(llvm::Type* element, int lanes, std::int64_t step = 1);
/// `f` of each lane, put together again.
llvm::Value* lane_by_lane(Builder& b, llvm::ArrayRef<llvm::Value*> operands,
                          const std::function<llvm::Value*(llvm::ArrayRef<llvm::Value*>)>& f);

/// An integer of which `multiple` is known to be a divisor, so that LLVM sees which low bits are 0.
llvm::Value* multiple_of(Builder& b, llvm::Value* value, std::int64_t multiple);
/// Where the pointer that is loaded leads: what the buffer's address is a multiple of.
void note_alignment(llvm::LoadInst& pointer, const ir::Buffer& buffer);

inline bool is_narrow_float(Type type) { return type.is_float() && type.bits == 16; }

[[noreturn]] void internal_error(const std::string& message);

}  // namespace calotype::llvm_backend
