// Which function is computed how; exp, log, tanh and erf of f32. Polynomials are minimax fits (Remez exchange
// at 50 digits) of relative error below 2^-27 on the reduced interval.
#include "codegen/llvm/math.h"

#include <llvm/IR/Module.h>

#include "codegen/llvm/math_avx512.h"
#include "codegen/llvm/math_f32.h"

namespace calotype::llvm_backend {

using llvm::Value;

namespace math_f32 {
namespace {

constexpr float kLn2High = 0x1.62e43p-1f;   // ln 2 rounded to f32
constexpr float kLn2Low = -0x1.05c61p-29f;  // ln 2 - kLn2High
constexpr float kLog2E = 0x1.715476p+0f;
constexpr float kRoundMagic = 0x1.8p23f;  // adding it leaves the nearest integer in the low bits

/// exp(x) = value * 2^exponent with value near 1, for |x| < 2^20 or NaN.
struct ScaledExp {
  Value* value;
  Value* exponent;
};

ScaledExp scaled_exp(F32 m, Value* x) {
  Value* shifted = m.fma(x, m.real(x, kLog2E), m.real(x, kRoundMagic));
  Value* n = m.b.CreateFSub(shifted, m.real(x, kRoundMagic));
  Value* exponent = m.b.CreateSub(m.bits(shifted), m.bits(m.real(x, kRoundMagic)));
  Value* r = m.fma(n, m.real(x, -kLn2High), x);
  r = m.fma(n, m.real(x, -kLn2Low), r);
  Value* q = m.polynomial(r, {0.499999933733032364, 0.166665195210885769, 0.0416684010155865088,
                              0.00836885134332693895, 0.00138143249985722942});
  Value* tail = m.fma(m.b.CreateFMul(r, r), q, r);
  return {m.b.CreateFAdd(tail, m.real(x, 1)), exponent};
}

/// value * 2^exponent where the result is known to be normal; of a NaN, anything.
Value* scale_normal(F32 m, const ScaledExp& e) {
  return m.from_bits(m.b.CreateAdd(m.bits(e.value), m.b.CreateShl(e.exponent, 23)));
}

}  // namespace

Value* exp(F32 m, Value* x) {
  // Beyond these limits the result is infinity or 0; the comparisons keep a NaN.
  x = m.b.CreateSelect(m.b.CreateFCmpOGT(x, m.real(x, 90)), m.real(x, 90), x);
  x = m.b.CreateSelect(m.b.CreateFCmpOLT(x, m.real(x, -106)), m.real(x, -106), x);
  ScaledExp e = scaled_exp(m, x);
  // Two factors, so that subnormal results are rounded once and large ones overflow.
  Value* half = m.b.CreateAShr(e.exponent, 1);
  Value* rest = m.b.CreateSub(e.exponent, half);
  return m.b.CreateFMul(m.b.CreateFMul(e.value, m.power_of_two(half)), m.power_of_two(rest));
}

Value* log(F32 m, Value* x) {
  Builder& b = m.b;
  constexpr float kSmallestNormal = 0x1p-126f, kInfinity = __builtin_inff();
  Value* subnormal = b.CreateFCmpOLT(x, m.real(x, kSmallestNormal));
  Value* scaled = b.CreateSelect(subnormal, b.CreateFMul(x, m.real(x, 0x1p23)), x);
  // x = mantissa * 2^e with the mantissa in [sqrt(1/2), sqrt(2)).
  Value* bits = m.bits(scaled);
  Value* e = b.CreateAShr(b.CreateSub(bits, m.number(bits, 0x3f3504f3)), 23);
  Value* f = b.CreateFSub(m.from_bits(b.CreateSub(bits, b.CreateShl(e, 23))), m.real(x, 1));
  e = b.CreateSub(e, b.CreateSelect(subnormal, m.number(e, 23), m.number(e, 0)));
  Value* n = b.CreateSIToFP(e, x->getType());
  Value* q = m.polynomial(
      f, {0.333333317084990582, -0.25000821014964966, 0.200012267686490519, -0.166233577926732647,
          0.142017602384964884, -0.131601808790556753, 0.127615643292458194, -0.0763448624598690866});
  Value* square = b.CreateFMul(f, f);
  Value* tail = b.CreateFMul(b.CreateFMul(square, f), q);
  tail = m.fma(n, m.real(x, kLn2Low), tail);
  tail = m.fma(square, m.real(x, -0.5), tail);
  Value* result = m.fma(n, m.real(x, kLn2High), b.CreateFAdd(f, tail));
  result = b.CreateSelect(b.CreateFCmpOLT(x, m.real(x, kInfinity)), result,
                          x);  // infinity and NaN stand for themselves
  result = b.CreateSelect(b.CreateFCmpOLT(x, m.real(x, 0)), m.real(x, __builtin_nan("")), result);
  return b.CreateSelect(b.CreateFCmpOEQ(x, m.real(x, 0)), m.real(x, -kInfinity), result);
}

Value* tanh(F32 m, Value* x) {
  Builder& b = m.b;
  Value* size = m.abs(x);
  Value* square = b.CreateFMul(x, x);
  Value* q = m.polynomial(square, {-0.333332802212428121, 0.133313836808649935, -0.0537340023113520555,
                                   0.020618128991532761, -0.00567931073990759226});
  Value* near = m.fma(b.CreateFMul(square, x), q, x);
  // 1 - 2 / (exp(2 |x|) + 1), which is 1 in f32 from 9.02 on.
  Value* limited = b.CreateSelect(b.CreateFCmpOGT(size, m.real(x, 10)), m.real(x, 10), size);
  Value* power = scale_normal(m, scaled_exp(m, b.CreateFAdd(limited, limited)));
  Value* quotient = b.CreateFDiv(m.real(x, 2), b.CreateFAdd(power, m.real(x, 1)));
  Value* far = b.CreateFSub(m.real(x, 1), quotient);  // a NaN takes the other branch
  return m.copysign(b.CreateSelect(b.CreateFCmpULT(size, m.real(x, 0.625)), near, far), x);  // of -0 too
}

Value* erf(F32 m, Value* x) {
  Builder& b = m.b;
  Value* size = m.abs(x);
  Value* q =
      m.polynomial(b.CreateFMul(x, x),
                   {0.12837916680237499, -0.376126353104954596, 0.112837197239893697, -0.0268607528456125565,
                    0.0052044360904725288, -0.000818192786726678815, 0.0000853884115561957304});
  Value* near = m.fma(x, q, x);
  // 1 - exp(-g) with g = -log(erfc(|x|)), which is smooth; beyond 3.95 the result rounds to 1.
  Value* limited = b.CreateSelect(b.CreateFCmpOGT(size, m.real(x, 3.95)), m.real(x, 3.95), size);
  Value* g = m.polynomial(limited, {-0.000166375420929460532, 1.12947458307683016, 0.633429204789370099,
                                    0.108188754405432451, -0.0250599072421574619, 0.00414830155655642507,
                                    -0.000429735492478321143, 0.0000206839263822550516});
  Value* far = b.CreateFSub(m.real(x, 1), scale_normal(m, scaled_exp(m, b.CreateFNeg(g))));
  return b.CreateSelect(b.CreateFCmpULT(size, m.real(x, 0.9)), near, m.copysign(far, x));
}

}  // namespace math_f32

namespace {

Value* call_libm(Builder& b, const char* name, llvm::ArrayRef<Value*> operands) {
  std::vector<llvm::Type*> parameters(operands.size(), b.getDoubleTy());
  auto* type = llvm::FunctionType::get(b.getDoubleTy(), parameters, false);
  auto callee = b.GetInsertBlock()->getModule()->getOrInsertFunction(name, type);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setWillReturn();
  function->setDoesNotAccessMemory();
  return lane_by_lane(b, operands, [&](llvm::ArrayRef<Value*> lanes) { return b.CreateCall(callee, lanes); });
}

/// The function of the C library that computes an operation, for those that have no code of their own in f32.
const char* library_function(ir::Op op) {
  switch (op) {
    case ir::Op::Tan:
      return "tan";
    case ir::Op::Asin:
      return "asin";
    case ir::Op::Acos:
      return "acos";
    case ir::Op::Atan:
      return "atan";
    case ir::Op::Atan2:
      return "atan2";
    case ir::Op::Sinh:
      return "sinh";
    case ir::Op::Cosh:
      return "cosh";
    case ir::Op::Asinh:
      return "asinh";
    case ir::Op::Acosh:
      return "acosh";
    case ir::Op::Atanh:
      return "atanh";
    case ir::Op::Expm1:
      return "expm1";
    case ir::Op::Log1p:
      return "log1p";
    case ir::Op::Hypot:
      return "hypot";
    default:
      internal_error(std::string("no math function ") + ir::info(op).name);
  }
}

/// In f64 and rounded: functions that are seldom used.
Value* call_wide(Builder& b, ir::Op op, llvm::ArrayRef<Value*> v) {
  llvm::Type* type = v[0]->getType();
  if (!type->getScalarType()->isFloatTy()) return call_libm(b, library_function(op), v);
  std::vector<Value*> wide;
  for (Value* x : v) wide.push_back(b.CreateFPExt(x, with_element(type, b.getDoubleTy())));
  return b.CreateFPTrunc(call_libm(b, library_function(op), wide), type);
}

Value* transcendental(Builder& b, ir::Op op, llvm::ArrayRef<Value*> v) {
  bool single = v[0]->getType()->getScalarType()->isFloatTy();
  math_f32::F32 m{b};
  switch (op) {
    case ir::Op::Exp:
    case ir::Op::FastExp:
      return single ? math_f32::exp(m, v[0]) : call_libm(b, "exp", v);
    case ir::Op::Log:
    case ir::Op::FastLog:
      return single ? math_f32::log(m, v[0]) : call_libm(b, "log", v);
    case ir::Op::Tanh:
    case ir::Op::FastTanh:
      return single ? math_f32::tanh(m, v[0]) : call_libm(b, "tanh", v);
    case ir::Op::Erf:
      return single ? math_f32::erf(m, v[0]) : call_libm(b, "erf", v);
    case ir::Op::Sin:
    case ir::Op::FastSin:
      return single ? math_f32::sin(m, v[0]) : call_libm(b, "sin", v);
    case ir::Op::Cos:
    case ir::Op::FastCos:
      return single ? math_f32::cos(m, v[0]) : call_libm(b, "cos", v);
    case ir::Op::Pow:
      return single ? math_f32::pow(m, v[0], v[1]) : call_libm(b, "pow", v);
    case ir::Op::Exp2:
      return single ? math_f32::exp2(m, v[0]) : call_libm(b, "exp2", v);
    case ir::Op::Log2:
      return single ? math_f32::log2(m, v[0]) : call_libm(b, "log2", v);
    default:
      return call_wide(b, op, v);
  }
}

}  // namespace

Value* emit_math(Builder& b, const Machine& machine, ir::Op op, llvm::ArrayRef<Value*> operands) {
  Value* x = operands[0];
  if (machine.avx512 && x->getType()->getScalarType()->isFloatTy())
    if (Value* own = emit_math_avx512(b, op, operands)) return own;
  switch (op) {
    case ir::Op::Sqrt:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
    case ir::Op::Rsqrt:
      return b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1),
                          b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x));
    case ir::Op::FastDivide:
      return b.CreateFDiv(x, operands[1]);
    case ir::Op::Floor:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x);
    case ir::Op::Ceil:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, x);
    case ir::Op::Trunc:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, x);
    case ir::Op::Round:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, x);
    default:
      return transcendental(b, op, operands);
  }
}

}  // namespace calotype::llvm_backend
