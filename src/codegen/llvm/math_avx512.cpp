// exp, erf, fast::exp and fast::divide for AVX-512. Whole vectors of 16 lanes: others are cut into such or
// filled up, so that a lane is computed the same way in any.
#include "codegen/llvm/math_avx512.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <array>
#include <numeric>

#include "codegen/llvm/math_f32.h"

namespace calotype::llvm_backend {
namespace {

using llvm::Value;
using math_f32::F32;

constexpr int kLanes = 16;
constexpr std::uint64_t kAllLanes = 0xffff, kCurrentRounding = 4;
constexpr double kRoundMagic = 0x1.8p23;  // adding it leaves the nearest integer in the low bits

/// Lanes [first, first + 16) of a scalar or vector; beyond its end, any values.
Value* sixteen_from(Builder& b, Value* v, int first) {
  const int lanes = lanes_of(v);
  if (lanes == kLanes) return v;
  if (!v->getType()->isVectorTy()) {
    auto* type = llvm::FixedVectorType::get(v->getType(), kLanes);
    return b.CreateInsertElement(llvm::PoisonValue::get(type), v, std::uint64_t{0});
  }
  std::vector<int> taken;
  for (int i = first; i < first + kLanes; ++i) taken.push_back(i < lanes ? i : -1);
  return b.CreateShuffleVector(v, taken);
}

/// f of vectors of 16 lanes, applied to operands of any number of lanes.
Value* by_sixteen(Builder& b, llvm::ArrayRef<Value*> operands,
                  const std::function<Value*(llvm::ArrayRef<Value*>)>& f) {
  const int lanes = lanes_of(operands[0]);
  std::vector<Value*> results;
  for (int first = 0; first < lanes; first += kLanes) {
    std::vector<Value*> parts;
    for (Value* operand : operands) parts.push_back(sixteen_from(b, operand, first));
    results.push_back(f(parts));
  }
  if (!operands[0]->getType()->isVectorTy()) return b.CreateExtractElement(results[0], std::uint64_t{0});
  Value* all = results.size() == 1 ? results[0] : llvm::concatenateVectors(b, results);
  if (lanes_of(all) == lanes) return all;
  std::vector<int> taken(static_cast<std::size_t>(lanes));
  std::iota(taken.begin(), taken.end(), 0);
  return b.CreateShuffleVector(all, taken);
}

/// x * 2^floor(power), rounded once.
Value* scaled(Builder& b, Value* x, Value* power) {
  return by_sixteen(b, {x, power}, [&](llvm::ArrayRef<Value*> v) {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                             {v[0], v[1], v[0], b.getInt16(kAllLanes), b.getInt32(kCurrentRounding)});
  });
}

/// 1 / x within a relative error of 2^-14.
Value* rough_inverse(Builder& b, Value* x) {
  return by_sixteen(b, {x}, [&](llvm::ArrayRef<Value*> v) {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_rcp14_ps_512, {},
                             {v[0], v[0], b.getInt16(kAllLanes)});
  });
}

/// What x is above the next lower whole number; 0 for an infinity.
Value* above_floor(Builder& b, Value* x) {
  constexpr std::uint32_t kDown = 1, kQuiet = 8;
  return by_sixteen(b, {x}, [&](llvm::ArrayRef<Value*> v) {
    return b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_reduce_ps_512, {},
        {v[0], b.getInt32(kDown | kQuiet), v[0], b.getInt16(kAllLanes), b.getInt32(kCurrentRounding)});
  });
}

using Table = std::array<float, kLanes>;

/// The value whose number is in the lower four bits of each lane of `index`.
Value* looked_up(Builder& b, const Table& table, Value* index) {
  Value* values = llvm::ConstantDataVector::get(b.getContext(), llvm::ArrayRef<float>(table));
  return by_sixteen(b, {index}, [&](llvm::ArrayRef<Value*> v) {
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {}, {values, v[0]});
  });
}

/// exp(x) = exp(r) * 2^n with |r| <= ln(2) / 2, for the x of which it is neither 0 nor infinity. The
/// comparisons keep a NaN.
struct Reduced {
  Value* r;
  Value* n;
};

Reduced reduced(F32 m, Value* x) {
  constexpr float kLn2High = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f, kLog2E = 0x1.715476p+0f;
  x = m.b.CreateSelect(m.b.CreateFCmpOGT(x, m.real(x, 90)), m.real(x, 90), x);
  x = m.b.CreateSelect(m.b.CreateFCmpOLT(x, m.real(x, -106)), m.real(x, -106), x);
  Value* n = m.b.CreateFSub(m.fma(x, m.real(x, kLog2E), m.real(x, kRoundMagic)), m.real(x, kRoundMagic));
  Value* r = m.fma(n, m.real(x, -kLn2High), x);
  return {m.fma(n, m.real(x, -kLn2Low), r), n};
}

Value* scaled_exp(F32 m, Value* x) {
  const Reduced e = reduced(m, x);
  return scaled(m.b,
                m.polynomial(e.r, {1, 1, 0.499999933733032364, 0.166665195210885769, 0.0416684010155865088,
                                   0.00836885134332693895, 0.00138143249985722942}),
                e.n);
}

/// 2^(x / ln 2), whose product is rounded: by |x| * 2^-24 and a little. The polynomial, which is 1 at 0, is
/// within 2^-23.5 of 2^r for r from 0 to 1 (Remez exchange at 40 digits). Infinities and what is beyond them
/// leave r = 0, so nothing is clamped.
Value* fast_exp(F32 m, Value* x) {
  Value* power = m.b.CreateFMul(x, m.real(x, 0x1.715476p+0));
  return scaled(m.b,
                m.polynomial(above_floor(m.b, power),
                             {1, 0.693151311817609790, 0.240164450039273029, 0.0557999134252242838,
                              0.00901702996252961276, 0.00186713021195126332}),
                power);
}

/// The rough inverse of y and one step of Newton's. The step makes a NaN of an infinite or a zero divisor,
/// where the rough inverse is right.
Value* fast_divide(F32 m, Value* x, Value* y) {
  Value* rough = rough_inverse(m.b, y);
  Value* better = m.fma(m.fma(m.b.CreateFNeg(y), rough, m.real(y, 1)), rough, rough);
  return m.b.CreateFMul(x, m.b.CreateSelect(m.b.CreateFCmpUNO(better, better), rough, better));
}

// Around each multiple c of kStep, erf(c + u) is erf(c) + u P(u); around 0 it is u + u P(u). P is of degree 4
// and minimax (Lawson's algorithm at 30 digits): with it erf has a relative error below 2^-25. The
// coefficients of each power for the 16 multiples, erf(c) first. At the last one erf rounds to 1.
constexpr float kStep = 67.0f / 256;
constexpr Table kErf[] = {
    {0.0f, 0.288711543f, 0.540853149f, 0.733164092f, 0.861261425f, 0.935777347f, 0.973632591f, 0.990427009f,
     0.996933677f, 0.999135076f, 0.99978547f, 0.999953266f, 0.999991067f, 0.999998503f, 0.99999978f, 1.0f},
    {0.128379166f, 1.05367667f, 0.857954247f, 0.609151633f, 0.377130118f, 0.203592389f, 0.0958376979f,
     0.0393383124f, 0.0140799013f, 0.00439428349f, 0.0011958623f, 0.000283778196f, 5.87194209e-05f,
     1.05947228e-05f, 1.66687411e-06f, 2.28681416e-07f},
    {2.80468807e-07f, -0.275761723f, -0.449079241f, -0.478276384f, -0.394809239f, -0.266422528f,
     -0.150497251f, -0.0720697436f, -0.0294796287f, -0.010350205f, -0.00312950625f, -0.000816827101f,
     -0.000184361206f, -3.60303374e-05f, -6.1033997e-06f, -8.96741783e-07f},
    {-0.376142137f, -0.303135393f, -0.129289722f, 0.04728928f, 0.149829731f, 0.164559895f, 0.125605815f,
     0.074910762f, 0.0364562763f, 0.0147889039f, 0.00506200677f, 0.00147322888f, 0.000366466329f,
     7.8201816e-05f, 1.43549431e-05f, 2.30670107e-06f},
    {0.000295350195f, 0.130598955f, 0.182364746f, 0.140327706f, 0.0533930747f, -0.0183356419f, -0.048055566f,
     -0.0444593601f, -0.0283698712f, -0.0140413934f, -0.00563555484f, -0.00187545801f, -0.000524276652f,
     -0.000124141836f, -2.50419485e-05f, -3.66938157e-06f},
    {0.110922216f, 0.0781255091f, 0.00131586155f, -0.0576337356f, -0.0668185279f, -0.0395016113f,
     -0.00745100016f, 0.0100273464f, 0.012722944f, 0.00872376908f, 0.00434637086f, 0.00170401448f,
     0.000544267288f, 0.000144309227f, 3.21309229e-05f, 9.04791032e-06f},
};

Value* erf_by_table(F32 m, Value* x) {
  Builder& b = m.b;
  Value* size = m.abs(x);
  Value* last = m.real(x, (kLanes - 1) * kStep);
  Value* limited = b.CreateSelect(b.CreateFCmpOGT(size, last), last, size);  // keeps a NaN
  Value* shifted = m.fma(limited, m.real(x, 1 / kStep), m.real(x, kRoundMagic));
  Value* index = m.bits(shifted);
  Value* u = m.fma(b.CreateFSub(shifted, m.real(x, kRoundMagic)), m.real(x, -kStep), limited);
  Value* p = nullptr;
  for (auto table = std::rbegin(kErf); table + 1 != std::rend(kErf); ++table) {
    Value* coefficient = looked_up(b, *table, index);
    p = p ? m.fma(p, u, coefficient) : coefficient;
  }
  // A NaN is passed on; halfway to the next index is this one.
  Value* near = b.CreateFCmpULE(limited, m.real(x, kStep / 2));
  return m.copysign(m.fma(p, u, b.CreateSelect(near, limited, looked_up(b, kErf[0], index))), x);
}

}  // namespace

Value* emit_math_avx512(Builder& b, ir::Op op, llvm::ArrayRef<Value*> operands) {
  const F32 m{b};
  switch (op) {
    case ir::Op::Exp:
      return scaled_exp(m, operands[0]);
    case ir::Op::FastExp:
      return fast_exp(m, operands[0]);
    case ir::Op::FastDivide:
      return fast_divide(m, operands[0], operands[1]);
    case ir::Op::Erf:
      return erf_by_table(m, operands[0]);
    default:
      return nullptr;
  }
}

}  // namespace calotype::llvm_backend
