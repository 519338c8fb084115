// Division, modulo and shifts. Constant divisors become shifts or multiplications (LLVM makes the latter from
// an unsigned division by a constant); vectors with varying divisors of up to 32 bits are divided in floating
// point, where the quotient of integers, cut to an integer, is exact.
#include "codegen/llvm/int_ops.h"

#include <llvm/IR/PatternMatch.h>

#include <optional>

namespace calotype::llvm_backend {
namespace {

using llvm::Value;

/// The value of a constant, or of all lanes of one that is the same in each; null: no such constant.
const llvm::APInt* constant_of(Value* value) {
  const llvm::APInt* found = nullptr;
  return llvm::PatternMatch::match(value, llvm::PatternMatch::m_APInt(found)) ? found : nullptr;
}

Value* zero(Value* like) { return llvm::Constant::getNullValue(like->getType()); }
Value* number(Value* like, std::int64_t value) {
  return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(value), /*IsSigned=*/true);
}

/// All ones where x is negative, else 0.
Value* sign_mask(Builder& b, Type t, Value* x) { return b.CreateAShr(x, number(x, t.bits - 1)); }

/// x / y toward zero of vectors, with y != 0 and no overflow.
Value* divide_in_float(Builder& b, Type t, Value* x, Value* y) {
  llvm::Type* real = with_element(x->getType(), t.bits <= 16 ? b.getFloatTy() : b.getDoubleTy());
  llvm::Type* wide = with_element(x->getType(), b.getInt32Ty());
  if (t.is_int()) {
    Value* q = b.CreateFDiv(b.CreateSIToFP(b.CreateSExt(x, wide), real),
                            b.CreateSIToFP(b.CreateSExt(y, wide), real));
    return b.CreateTrunc(b.CreateFPToSI(q, wide), x->getType());
  }
  Value* q =
      b.CreateFDiv(b.CreateUIToFP(b.CreateZExt(x, wide), real), b.CreateUIToFP(b.CreateZExt(y, wide), real));
  return b.CreateTrunc(b.CreateFPToUI(q, wide), x->getType());
}

/// Toward zero, with y != 0 and no overflow.
Value* divide(Builder& b, Type t, Value* x, Value* y) {
  if (t.lanes > 1 && t.bits <= 32 && !constant_of(y)) return divide_in_float(b, t, x, y);
  return t.is_int() ? b.CreateSDiv(x, y) : b.CreateUDiv(x, y);
}

/// y, or 1 where x / y has no value of its own (division by 0, overflow): the quotient by 1 is what overflow
/// wraps to.
Value* safe_divisor(Builder& b, Type t, Value* x, Value* y) {
  Value* bad = b.CreateICmpEQ(y, zero(y));
  if (t.is_int()) {
    Value* smallest = llvm::ConstantInt::get(x->getType(), llvm::APInt::getSignedMinValue(t.bits));
    bad = b.CreateOr(bad, b.CreateAnd(b.CreateICmpEQ(x, smallest), b.CreateICmpEQ(y, number(y, -1))));
  }
  return b.CreateSelect(bad, number(y, 1), y);
}

/// floor(x / c) for signed x and c > 0. With s = all ones where x < 0: floor(x / c) = ~(~x / c) there.
Value* floor_div_positive(Builder& b, Type t, Value* x, const llvm::APInt& c) {
  if (c.isPowerOf2()) return b.CreateAShr(x, number(x, c.logBase2()));
  Value* s = sign_mask(b, t, x);
  return b.CreateXor(b.CreateUDiv(b.CreateXor(x, s), llvm::ConstantInt::get(x->getType(), c)), s);
}

Value* floor_div_general(Builder& b, Type t, Value* x, Value* y) {
  Value* divisor = safe_divisor(b, t, x, y);
  Value* q = divide(b, t, x, divisor);
  if (t.is_int()) {
    Value* rest = b.CreateSub(x, b.CreateMul(q, divisor));
    Value* inexact = b.CreateICmpNE(rest, zero(rest));
    Value* opposite = b.CreateICmpSLT(b.CreateXor(rest, divisor), zero(rest));
    q = b.CreateSub(q, b.CreateZExt(b.CreateAnd(inexact, opposite), q->getType()));
  }
  return b.CreateSelect(b.CreateICmpEQ(y, zero(y)), zero(x), q);
}

Value* euclidean_mod_general(Builder& b, Type t, Value* x, Value* y) {
  Value* divisor = safe_divisor(b, t, x, y);
  Value* rest = b.CreateSub(x, b.CreateMul(divide(b, t, x, divisor), divisor));
  if (t.is_int()) {
    Value* size = b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, divisor, b.getFalse());
    rest = b.CreateAdd(rest, b.CreateAnd(sign_mask(b, t, rest), size));
  }
  return b.CreateSelect(b.CreateICmpEQ(y, zero(y)), zero(x), rest);
}

}  // namespace

Value* floor_div(Builder& b, Type t, Value* x, Value* y) {
  const llvm::APInt* c = constant_of(y);
  if (c && c->isZero()) return zero(x);
  if (c && !t.is_int()) return b.CreateUDiv(x, y);
  if (c && c->isStrictlyPositive()) return floor_div_positive(b, t, x, *c);
  return floor_div_general(b, t, x, y);
}

Value* euclidean_mod(Builder& b, Type t, Value* x, Value* y) {
  const llvm::APInt* c = constant_of(y);
  if (c && c->isZero()) return zero(x);
  if (!c) return euclidean_mod_general(b, t, x, y);
  llvm::APInt size = t.is_int() ? c->abs() : *c;  // of the smallest value: itself, as unsigned its size
  if (size.isPowerOf2()) return b.CreateAnd(x, llvm::ConstantInt::get(x->getType(), size - 1));
  if (!t.is_int()) return b.CreateURem(x, y);
  Value* q = floor_div_positive(b, t, x, size);
  return b.CreateSub(x, b.CreateMul(q, llvm::ConstantInt::get(x->getType(), size)));
}

Value* trunc_div(Builder& b, Type t, Value* x, Value* y) {
  if (t.lanes > 1 && t.bits <= 32 && !constant_of(y)) return divide_in_float(b, t, x, y);
  return b.CreateUDiv(x, y);  // both sides are >= 0: cheaper than the signed one, and equal
}

Value* trunc_mod(Builder& b, Type t, Value* x, Value* y) {
  if (t.lanes > 1 && t.bits <= 32 && !constant_of(y)) {
    return b.CreateSub(x, b.CreateMul(divide_in_float(b, t, x, y), y));
  }
  return b.CreateURem(x, y);
}

namespace {

/// By an unsigned amount.
Value* shift_one_way(Builder& b, Type t, Value* x, Value* amount, bool left) {
  Value* last = number(x, t.bits - 1);
  if (!left && t.is_int())
    return b.CreateAShr(x, b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, amount, last));
  Value* small = b.CreateICmpULE(amount, last);
  // A shift by too much is poison in LLVM, which a select does not stop once the amount is used elsewhere:
  // bound it first.
  Value* bounded = b.CreateSelect(small, amount, zero(amount));
  return b.CreateSelect(small, left ? b.CreateShl(x, bounded) : b.CreateLShr(x, bounded), zero(x));
}

/// The amount in the width of x; one that does not fit is cut to the largest, which shifts everything out as
/// well.
Value* amount_in_width(Builder& b, Type t, Type amount_type, Value* amount, Value* x) {
  if (amount_type.bits > t.bits) {
    std::int64_t limit = t.bits;
    bool is_signed = amount_type.is_int();
    amount = b.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, amount,
                                     number(amount, limit));
    if (is_signed) amount = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, amount, number(amount, -limit));
  }
  return b.CreateIntCast(amount, x->getType(), amount_type.is_int());
}

}  // namespace

Value* shift(Builder& b, Type t, Value* x, Type amount_type, Value* amount, bool left) {
  amount = amount_in_width(b, t, amount_type, amount, x);
  if (!amount_type.is_int()) return shift_one_way(b, t, x, amount, left);
  if (const llvm::APInt* c = constant_of(amount)) {
    Value* size = llvm::ConstantInt::get(x->getType(), c->abs());
    return shift_one_way(b, t, x, size, left != c->isNegative());
  }
  Value* size = b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, amount, b.getFalse());
  Value* negative = b.CreateICmpSLT(amount, zero(amount));
  return b.CreateSelect(negative, shift_one_way(b, t, x, size, !left), shift_one_way(b, t, x, size, left));
}

}  // namespace calotype::llvm_backend
