// exp2, log2 and pow of f32, computed in f64; pow as 2^(y log2 |x|): |y log2 x| < 160 where the result is
// finite, so a logarithm good to 2^-43 leaves an error of the result far below an ulp of f32.
#include "codegen/llvm/math_f32.h"

namespace calotype::llvm_backend::math_f32 {
namespace {

using llvm::Value;

/// log2 of an f32 >= 0 or NaN, in f64.
Value* log2_wide(F32 m, Value* x) {
  Builder& b = m.b;
  Value* wide = b.CreateFPExt(x, with_element(x->getType(), b.getDoubleTy()));
  Value* bits = m.bits(wide);
  Value* e = b.CreateAShr(b.CreateSub(bits, m.number(bits, 0x3fe6a09e667f3bcd)), 52);  // from sqrt(1/2)
  Value* mantissa = m.from_bits(b.CreateSub(bits, b.CreateShl(e, 52)));
  Value* s = b.CreateFDiv(b.CreateFSub(mantissa, m.real(wide, 1)), b.CreateFAdd(mantissa, m.real(wide, 1)));
  Value* q =
      m.polynomial(b.CreateFMul(s, s), {2.88539008177784916, 0.961796694114914301, 0.577077941896857375,
                                        0.412209300789484771, 0.319903665903312487, 0.282929816930756276});
  // i32 is wide enough, and all that machines without 64-bit conversions can convert.
  Value* n = b.CreateSIToFP(b.CreateTrunc(e, with_element(x->getType(), b.getInt32Ty())), wide->getType());
  Value* result = m.fma(s, q, n);
  result = b.CreateSelect(b.CreateFCmpOLT(x, m.real(x, __builtin_inf())), result, wide);
  return b.CreateSelect(b.CreateFCmpOEQ(x, m.real(x, 0)), m.real(wide, -__builtin_inf()), result);
}

/// 2^x rounded to f32; NaN stays.
Value* exp2_narrow(F32 m, Value* x, llvm::Type* narrow) {
  Builder& b = m.b;
  x = b.CreateSelect(b.CreateFCmpOGT(x, m.real(x, 160)), m.real(x, 160), x);
  x = b.CreateSelect(b.CreateFCmpOLT(x, m.real(x, -160)), m.real(x, -160), x);
  Value* magic = m.real(x, 0x1.8p52);
  Value* shifted = b.CreateFAdd(x, magic);
  Value* r = b.CreateFSub(x, b.CreateFSub(shifted, magic));
  Value* p = m.polynomial(
      r, {0.999999999961375554, 0.693147180729787233, 0.240226512011605123, 0.0555041035037661199,
          0.0096180268474351077, 0.00133339240134284102, 0.000154694223648062793, 0.0000152018224601084695});
  Value* scale = b.CreateShl(m.bits(shifted), 52);  // the bits above the integer fall off
  Value* result = m.from_bits(b.CreateAdd(m.bits(p), scale));
  return b.CreateFPTrunc(b.CreateSelect(b.CreateFCmpUNO(x, x), x, result), narrow);
}

}  // namespace

Value* exp2(F32 m, Value* x) {
  return exp2_narrow(m, m.b.CreateFPExt(x, with_element(x->getType(), m.b.getDoubleTy())), x->getType());
}

Value* log2(F32 m, Value* x) {
  Value* result = m.b.CreateFPTrunc(log2_wide(m, x), x->getType());
  return m.b.CreateSelect(m.b.CreateFCmpOLT(x, m.real(x, 0)), m.real(x, __builtin_nan("")), result);
}

Value* pow(F32 m, Value* x, Value* y) {
  Builder& b = m.b;
  Value* size = m.abs(x);
  Value* one = m.real(x, 1);
  Value* infinity = m.real(x, __builtin_inf());
  Value* log = log2_wide(m, size);
  Value* result = exp2_narrow(m, b.CreateFMul(b.CreateFPExt(y, log->getType()), log), x->getType());

  // Where 0 * infinity or a NaN came up and the answer is 1: y = 0, x = 1, and -1 to an infinite power.
  Value* endless = b.CreateFCmpOEQ(m.abs(y), infinity);
  Value* unit = b.CreateAnd(b.CreateFCmpOEQ(size, one), endless);
  Value* is_one = b.CreateOr(b.CreateOr(b.CreateFCmpOEQ(y, m.real(y, 0)), b.CreateFCmpOEQ(x, one)), unit);
  result = b.CreateSelect(is_one, one, result);

  auto is_whole = [&](Value* v) {
    return b.CreateFCmpOEQ(b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, v), v);
  };
  Value* whole = is_whole(y);
  Value* odd = b.CreateAnd(whole, b.CreateNot(is_whole(b.CreateFMul(y, m.real(y, 0.5)))));
  Value* sign = b.CreateAnd(m.bits(x), m.number(m.bits(x), 0x80000000));
  Value* flipped = m.from_bits(b.CreateXor(m.bits(result), sign));
  result = b.CreateSelect(odd, flipped, result);
  Value* negative = b.CreateAnd(b.CreateFCmpOLT(x, m.real(x, 0)), b.CreateFCmpOLT(size, infinity));
  Value* undefined =
      b.CreateAnd(negative, b.CreateFCmpONE(b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, y), y));
  return b.CreateSelect(undefined, m.real(x, __builtin_nan("")), result);
}

}  // namespace calotype::llvm_backend::math_f32
