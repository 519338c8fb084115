// Rounding to 16-bit floats, minimum and maximum, and conversions.
#include "codegen/llvm/float_ops.h"

#include <llvm/IR/PatternMatch.h>

#include <cmath>

namespace calotype::llvm_backend {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;

llvm::Type* like(Value* value, llvm::Type* element) { return with_element(value->getType(), element); }
Value* real(Value* like, double value) { return llvm::ConstantFP::get(like->getType(), value); }
Value* number(Value* like, std::uint64_t value) { return llvm::ConstantInt::get(like->getType(), value); }

/// The upper 16 bits of each 32-bit lane. Of vectors by one shuffle (machines here are little-endian), which
/// takes the place of a shift and a narrowing and joins two registers as well.
Value* upper_half(Builder& b, Value* bits) {
  const int lanes = lanes_of(bits);
  if (lanes == 1) return b.CreateTrunc(b.CreateLShr(bits, number(bits, 16)), b.getInt16Ty());
  auto* halves = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * static_cast<unsigned>(lanes));
  std::vector<int> upper;
  for (int i = 0; i < lanes; ++i) upper.push_back(2 * i + 1);
  return b.CreateShuffleVector(b.CreateBitCast(bits, halves), upper);
}

/// f32 to the bits of a bf16: add half of the last place, less one where the last kept bit is even.
Value* to_bfloat(Builder& b, Value* x) {
  Value* bits = b.CreateBitCast(x, like(x, b.getInt32Ty()));
  Value* odd = b.CreateAnd(b.CreateLShr(bits, number(bits, 16)), number(bits, 1));
  Value* rounded = b.CreateAdd(b.CreateAdd(bits, number(bits, 0x7fff)), odd);
  Value* quiet = b.CreateOr(bits, number(bits, 0x400000));
  return upper_half(b, b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded));
}

/// f64 to f32, inexact values to the neighbour whose last bit is 1: rounding that again to a narrower type
/// then rounds the f64 only once.
Value* to_float_odd(Builder& b, Value* x) {
  Value* nearest = b.CreateFPTrunc(x, like(x, b.getFloatTy()));
  Value* back = b.CreateFPExt(nearest, x->getType());
  Value* bits = b.CreateBitCast(nearest, like(x, b.getInt32Ty()));
  Value* away = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
  Value* cut = b.CreateSub(bits, b.CreateZExt(away, bits->getType()));
  Value* inexact = b.CreateFCmpONE(back, x);
  return b.CreateBitCast(b.CreateOr(cut, b.CreateZExt(inexact, bits->getType())), nearest->getType());
}

bool is_constant_number(Value* value) {
  const llvm::APFloat* constant = nullptr;
  return llvm::PatternMatch::match(value, llvm::PatternMatch::m_APFloat(constant)) && !constant->isNaN();
}

/// `ordered` compares x with a y that is no NaN: false for a NaN in x, which leaves y.
Value* extreme(Builder& b, Value* x, Value* y, llvm::CmpInst::Predicate ordered, ID general) {
  if (is_constant_number(x)) std::swap(x, y);
  if (is_constant_number(y)) return b.CreateSelect(b.CreateFCmp(ordered, x, y), x, y);
  return b.CreateBinaryIntrinsic(general, x, y);
}

}  // namespace

Value* widen(Builder& b, Type type, Value* value) {
  if (!is_narrow_float(type)) return value;
  llvm::Type* wide = like(value, b.getFloatTy());
  if (type.code == TypeCode::Float) {
    return b.CreateFPExt(b.CreateBitCast(value, like(value, b.getHalfTy())), wide);
  }
  Value* bits = b.CreateZExt(value, like(value, b.getInt32Ty()));
  return b.CreateBitCast(b.CreateShl(bits, number(bits, 16)), wide);
}

Value* narrow(Builder& b, Type type, Value* value) {
  if (!is_narrow_float(type)) return value;
  if (value->getType()->getScalarType()->isDoubleTy()) value = to_float_odd(b, value);
  if (type.code == TypeCode::BFloat) return to_bfloat(b, value);
  Value* half = b.CreateFPTrunc(value, like(value, b.getHalfTy()));
  return b.CreateBitCast(half, like(value, b.getInt16Ty()));
}

Value* float_min(Builder& b, Value* x, Value* y) {
  return extreme(b, x, y, llvm::CmpInst::FCMP_OLT, llvm::Intrinsic::minnum);
}
Value* float_max(Builder& b, Value* x, Value* y) {
  return extreme(b, x, y, llvm::CmpInst::FCMP_OGT, llvm::Intrinsic::maxnum);
}

Value* fused_multiply_add(Builder& b, Type type, Value* x, Value* y, Value* z) {
  auto fma = [&](Value* p, Value* q, Value* r) {
    return b.CreateIntrinsic(p->getType(), llvm::Intrinsic::fma, {p, q, r});
  };
  if (!is_narrow_float(type)) return fma(x, y, z);
  // In f64 the product is exact; the sum is rounded to odd there, from the exact error of the addition
  // (Knuth).
  auto to_double = [&](Value* v) { return b.CreateFPExt(widen(b, type, v), like(v, b.getDoubleTy())); };
  Value* product = b.CreateFMul(to_double(x), to_double(y));
  Value* addend = to_double(z);
  Value* sum = b.CreateFAdd(product, addend);
  Value* shadow = b.CreateFSub(sum, product);
  Value* error = b.CreateFAdd(b.CreateFSub(product, b.CreateFSub(sum, shadow)), b.CreateFSub(addend, shadow));
  Value* bits = b.CreateBitCast(sum, like(sum, b.getInt64Ty()));
  Value* even = b.CreateICmpEQ(b.CreateAnd(bits, number(bits, 1)), number(bits, 0));
  Value* inexact = b.CreateFCmpONE(error, real(error, 0));  // false for the NaN of an infinite sum
  Value* outwards =
      b.CreateICmpEQ(b.CreateFCmpOGT(error, real(error, 0)), b.CreateFCmpOGT(sum, real(sum, 0)));
  Value* step = b.CreateSelect(outwards, number(bits, 1), number(bits, ~std::uint64_t{0}));
  Value* odd = b.CreateSelect(b.CreateAnd(even, inexact), b.CreateAdd(bits, step), bits);
  return narrow(b, type, b.CreateBitCast(odd, sum->getType()));
}

namespace {

Value* int_to_int(Builder& b, Type to, Type from, Value* value) {
  if (to.is_bool()) return b.CreateICmpNE(value, number(value, 0));
  return b.CreateIntCast(value, like(value, b.getIntNTy(to.bits)), from.is_int());
}

/// An int64 as f64 whose last bit records whether anything was cut off, so that a later rounding is the only
/// one.
Value* sticky_double(Builder& b, Type from, Value* value) {
  llvm::Type* wide = like(value, b.getDoubleTy());
  auto as_double = [&](Value* v) {
    return from.is_int() ? b.CreateSIToFP(v, wide) : b.CreateUIToFP(v, wide);
  };
  constexpr int kExcess = 11;  // 64 - 53
  Value* low = b.CreateAnd(value, number(value, (1u << kExcess) - 1));
  Value* cut = b.CreateZExt(b.CreateICmpNE(low, number(low, 0)), value->getType());
  Value* high = from.is_int() ? b.CreateAShr(value, number(value, kExcess))
                              : b.CreateLShr(value, number(value, kExcess));
  Value* large = b.CreateFMul(as_double(b.CreateOr(high, cut)), llvm::ConstantFP::get(wide, 1 << kExcess));
  Value* exact = as_double(value);
  Value* size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, exact);
  return b.CreateSelect(b.CreateFCmpOLT(size, real(size, 0x1p52)), exact, large);
}

Value* int_to_float(Builder& b, Type to, Type from, Value* value) {
  if (to.code == TypeCode::BFloat && from.bits == 64) return narrow(b, to, sticky_double(b, from, value));
  // f32 holds 24 bits: enough for every integer that f16 can, not for what rounds to bf16.
  bool via_double = to.bits == 64 || (to.code == TypeCode::BFloat && from.bits > 16);
  llvm::Type* real_type = like(value, via_double ? b.getDoubleTy() : b.getFloatTy());
  return narrow(b, to, from.is_int() ? b.CreateSIToFP(value, real_type) : b.CreateUIToFP(value, real_type));
}

/// To at most 16 bits: clamp in float and convert. The comparison of a NaN keeps the lower limit: 0 if
/// unsigned.
Value* float_to_small_int(Builder& b, Type to, Value* x) {
  Value* low = real(x, static_cast<double>(to.min_int()));
  Value* high = real(x, static_cast<double>(to.max_int()));
  Value* raised = b.CreateSelect(b.CreateFCmpOGT(x, low), x, low);
  Value* clamped = b.CreateSelect(b.CreateFCmpOLT(raised, high), raised, high);
  Value* whole = b.CreateFPToSI(clamped, like(x, b.getInt32Ty()));
  if (to.is_int()) whole = b.CreateSelect(b.CreateFCmpUNO(x, x), number(whole, 0), whole);
  return b.CreateTrunc(whole, like(x, b.getIntNTy(to.bits)));
}

/// To 32 or 64 bits, whose upper limit no float holds exactly: convert, and replace what was out of range
/// (poison until then). LLVM's own saturating conversion goes lane by lane on x86.
Value* float_to_large_int(Builder& b, Type to, Value* x) {
  llvm::Type* type = like(x, b.getIntNTy(to.bits));
  Value* low = real(x, to.is_int() ? static_cast<double>(to.min_int()) : 0);
  Value* beyond = real(x, std::ldexp(1.0, to.is_int() ? to.bits - 1 : to.bits));
  Value* raised = b.CreateSelect(b.CreateFCmpOGT(x, low), x, low);
  Value* whole = to.is_int() ? b.CreateFPToSI(raised, type) : b.CreateFPToUI(raised, type);
  auto largest = to.is_int() ? llvm::APInt::getSignedMaxValue(to.bits) : llvm::APInt::getMaxValue(to.bits);
  whole = b.CreateSelect(b.CreateFCmpOGE(raised, beyond), llvm::ConstantInt::get(type, largest), whole);
  return to.is_int() ? b.CreateSelect(b.CreateFCmpUNO(x, x), number(whole, 0), whole) : whole;
}

Value* float_to_int(Builder& b, Type to, Value* x) {
  if (to.is_bool()) return b.CreateFCmpUNE(x, real(x, 0));
  return to.bits <= 16 ? float_to_small_int(b, to, x) : float_to_large_int(b, to, x);
}

Value* float_to_float(Builder& b, Type to, Type from, Value* value) {
  Value* x = widen(b, from, value);
  if (to.bits == 64) return b.CreateFPExt(x, like(x, b.getDoubleTy()));
  if (to.bits == 32) return b.CreateFPTrunc(x, like(x, b.getFloatTy()));
  return narrow(b, to, x);
}

}  // namespace

Value* convert_in_range(Builder& b, Type to, Type from, Value* value) {
  Value* x = widen(b, from, value);
  return b.CreateTrunc(b.CreateFPToSI(x, like(x, b.getInt32Ty())), like(x, b.getIntNTy(to.bits)));
}

Value* convert(Builder& b, Type to, Type from, Value* value) {
  if (to.element() == from.element()) return value;
  if (from.is_float()) {
    return to.is_float() ? float_to_float(b, to, from, value) : float_to_int(b, to, widen(b, from, value));
  }
  return to.is_float() ? int_to_float(b, to, from, value) : int_to_int(b, to, from, value);
}

}  // namespace calotype::llvm_backend
