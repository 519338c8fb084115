#pragma once
// Parts of the f32 math functions, written as builders of LLVM IR for any number of lanes.

#include <initializer_list>

#include "codegen/llvm/values.h"

namespace calotype::llvm_backend::math_f32 {

/// Shorthand for arithmetic on f32 or f64 lanes and their bits.
struct F32 {
  Builder& b;

  /// A constant in the type of `like`.
  llvm::Value* real(llvm::Value* like, double value) const {
    return llvm::ConstantFP::get(like->getType(), value);
  }
  llvm::Value* number(llvm::Value* like, std::uint64_t value) const {
    return llvm::ConstantInt::get(like->getType(), value);
  }
  llvm::Value* fma(llvm::Value* x, llvm::Value* y, llvm::Value* z) const {
    return b.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, z});
  }
  llvm::Value* abs(llvm::Value* x) const { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  llvm::Value* copysign(llvm::Value* x, llvm::Value* sign) const {
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, sign);
  }
  llvm::Value* bits(llvm::Value* x) const {
    unsigned width = x->getType()->getScalarSizeInBits();
    return b.CreateBitCast(x, with_element(x->getType(), b.getIntNTy(width)));
  }
  /// f32 or f64 by the width of the integer.
  llvm::Value* from_bits(llvm::Value* x) const {
    llvm::Type* element = x->getType()->getScalarSizeInBits() == 32 ? b.getFloatTy() : b.getDoubleTy();
    return b.CreateBitCast(x, with_element(x->getType(), element));
  }
  /// 2^n of f32 for an i32 n that gives a normal number.
  llvm::Value* power_of_two(llvm::Value* n) const {
    return from_bits(b.CreateShl(b.CreateAdd(n, number(n, 127)), 23));
  }
  /// c0 + c1 x + c2 x^2 + ... by Horner's rule.
  llvm::Value* polynomial(llvm::Value* x, std::initializer_list<double> coefficients) const {
    const double* c = coefficients.end();
    llvm::Value* sum = real(x, *--c);
    while (c != coefficients.begin()) sum = fma(sum, x, real(x, *--c));
    return sum;
  }
};

llvm::Value* exp(F32 m, llvm::Value* x);
llvm::Value* log(F32 m, llvm::Value* x);
llvm::Value* tanh(F32 m, llvm::Value* x);
llvm::Value* erf(F32 m, llvm::Value* x);
llvm::Value* sin(F32 m, llvm::Value* x);
llvm::Value* cos(F32 m, llvm::Value* x);
llvm::Value* exp2(F32 m, llvm::Value* x);
llvm::Value* log2(F32 m, llvm::Value* x);
llvm::Value* pow(F32 m, llvm::Value* x, llvm::Value* y);

}  // namespace calotype::llvm_backend::math_f32
