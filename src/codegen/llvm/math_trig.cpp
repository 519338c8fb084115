// sin and cos of f32. The argument is reduced to [-pi/4, pi/4] in f64; arguments from 2^25 on, where that is
// not enough, are reduced by an integer product with the bits of 2/pi (Payne and Hanek), behind a branch.
#include <array>
#include <numbers>

#include "codegen/llvm/math_f32.h"

namespace calotype::llvm_backend::math_f32 {
namespace {

using llvm::Value;

/// x = quadrant * pi/2 + rest: rest in f64, the quadrant in the low bits of an i64.
struct Reduced {
  Value* rest;
  Value* quadrant;
};

/// |x| < 2^25 (or infinite or NaN, which give NaN). The products with the two parts of pi/2 are exact inside
/// the fused operations, and so is the first difference: a multiple of 2^-52 below 1.
Reduced reduce_small(F32 m, Value* x) {
  Builder& b = m.b;
  Value* wide = b.CreateFPExt(x, with_element(x->getType(), b.getDoubleTy()));
  Value* magic = m.real(wide, 0x1.8p52);
  Value* shifted = m.fma(wide, m.real(wide, 2 / std::numbers::pi), magic);
  Value* n = b.CreateFSub(shifted, magic);
  Value* rest = m.fma(n, m.real(wide, -0x1.921fb54442d18p+0), wide);
  rest = m.fma(n, m.real(wide, -0x1.1a62633145c07p-54), rest);
  return {rest, m.bits(shifted)};
}

/// The first 224 bits of 2/pi after the point.
constexpr std::array<std::uint32_t, 7> kTwoOverPi = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                                     0xDB629599, 0x3C439041, 0xFE5163AB};

/// Word `word` of the 96 bits of 2/pi that start `offset` bits after the point.
Value* window_word(F32 m, Value* offset, int word) {
  Builder& b = m.b;
  Value* index = b.CreateLShr(offset, 5);
  auto pick = [&](std::size_t first) {
    Value* chosen = m.number(offset, kTwoOverPi[first]);
    for (std::size_t i = 1; first + i < kTwoOverPi.size() && i <= 3; ++i) {
      Value* here = b.CreateICmpEQ(index, m.number(index, i));
      chosen = b.CreateSelect(here, m.number(offset, kTwoOverPi[first + i]), chosen);
    }
    return chosen;
  };
  auto first = static_cast<std::size_t>(word);
  return b.CreateIntrinsic(offset->getType(), llvm::Intrinsic::fshl,
                           {pick(first), pick(first + 1), b.CreateAnd(offset, m.number(offset, 31))});
}

/// |x| = mantissa * 2^e with a 24-bit mantissa and e >= 2. Bits of 2/pi of weight 4 and more after the shift
/// by e give multiples of 4 quadrants; the 96 bits from weight 2 on give 2 bits of quadrant and 62 of
/// fraction.
Reduced reduce_large(F32 m, Value* x) {
  Builder& b = m.b;
  Value* bits = m.bits(x);
  llvm::Type* wide = with_element(x->getType(), b.getInt64Ty());
  Value* biased = b.CreateAnd(b.CreateLShr(bits, 23), m.number(bits, 0xff));
  // Small lanes beside large ones are computed too and dropped; their offset only has to be in range.
  Value* offset = b.CreateBinaryIntrinsic(
      llvm::Intrinsic::smax, b.CreateSub(biased, m.number(bits, 127 + 23 + 2)), m.number(bits, 0));
  offset = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, offset, m.number(bits, 127));
  Value* mantissa = b.CreateOr(b.CreateAnd(bits, m.number(bits, 0x7fffff)), m.number(bits, 0x800000));
  mantissa = b.CreateZExt(mantissa, wide);
  auto product = [&](int word) {
    return b.CreateMul(b.CreateZExt(window_word(m, offset, word), wide), mantissa);
  };
  Value* sum =
      b.CreateAdd(b.CreateShl(product(0), 32), b.CreateAdd(product(1), b.CreateLShr(product(2), 32)));
  Value* quadrant = b.CreateLShr(b.CreateAdd(sum, m.number(sum, std::uint64_t{1} << 61)), 62);
  Value* fraction = b.CreateSub(sum, b.CreateShl(quadrant, 62));
  Value* rest = b.CreateSIToFP(fraction, with_element(x->getType(), b.getDoubleTy()));
  rest = b.CreateFMul(rest, m.real(rest, std::numbers::pi / 2 * 0x1p-62));
  Value* negative = b.CreateICmpSLT(bits, m.number(bits, 0));
  rest = b.CreateSelect(negative, b.CreateFNeg(rest), rest);
  quadrant = b.CreateSelect(negative, b.CreateNeg(quadrant), quadrant);
  Value* infinite = b.CreateFCmpUEQ(m.abs(x), m.real(x, __builtin_inf()));
  return {b.CreateSelect(infinite, m.real(rest, __builtin_nan("")), rest), quadrant};
}

Reduced reduce(F32 m, Value* x) {
  Builder& b = m.b;
  Reduced small = reduce_small(m, x);
  Value* is_large = b.CreateFCmpOGE(m.abs(x), m.real(x, 0x1p25));
  Value* any_large = lanes_of(x) == 1 ? is_large : b.CreateOrReduce(is_large);
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* large_block = llvm::BasicBlock::Create(b.getContext(), "trig.large", function);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "trig.reduced", function);
  b.CreateCondBr(any_large, large_block, after);
  b.SetInsertPoint(large_block);
  Reduced large = reduce_large(m, x);
  large = {b.CreateSelect(is_large, large.rest, small.rest),
           b.CreateSelect(is_large, large.quadrant, small.quadrant)};
  b.CreateBr(after);
  b.SetInsertPoint(after);
  auto merge = [&](Value* common, Value* rare) {
    llvm::PHINode* phi = b.CreatePHI(common->getType(), 2);
    phi->addIncoming(common, before);
    phi->addIncoming(rare, large_block);
    return phi;
  };
  Value* rest = merge(small.rest, large.rest);
  return {rest, merge(small.quadrant, large.quadrant)};
}

/// sin(x + turn * pi/2)
Value* sine(F32 m, Value* x, int turn) {
  Builder& b = m.b;
  Reduced r = reduce(m, x);
  Value* square = b.CreateFMul(r.rest, r.rest);
  Value* s = m.polynomial(square, {-0.166666666414267473, 0.00833332936230173965, -0.000198393271416222343,
                                   2.71823731108264612e-6});
  s = m.fma(b.CreateFMul(square, r.rest), s, r.rest);
  Value* c = m.polynomial(square, {-0.499999997229108547, 0.041666623064894383, -0.0013886755330794742,
                                   0.0000243896347118664407});
  c = m.fma(square, c, m.real(square, 1));
  Value* quadrant = b.CreateAdd(r.quadrant, m.number(r.quadrant, static_cast<std::uint64_t>(turn)));
  Value* odd = b.CreateICmpNE(b.CreateAnd(quadrant, m.number(quadrant, 1)), m.number(quadrant, 0));
  Value* size = b.CreateSelect(odd, c, s);
  Value* sign = b.CreateShl(b.CreateAnd(quadrant, m.number(quadrant, 2)), 62);
  Value* result = m.from_bits(b.CreateXor(m.bits(size), sign));
  return b.CreateFPTrunc(result, x->getType());
}

}  // namespace

Value* sin(F32 m, Value* x) {
  // The polynomial loses the sign of -0.
  return m.b.CreateSelect(m.b.CreateFCmpOEQ(x, m.real(x, 0)), x, sine(m, x, 0));
}
Value* cos(F32 m, Value* x) { return sine(m, x, 1); }

}  // namespace calotype::llvm_backend::math_f32
