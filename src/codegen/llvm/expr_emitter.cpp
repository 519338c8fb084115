// Expressions other than memory: each operation of ops.def to LLVM.
#include "codegen/llvm/expr_emitter.h"

#include <fmt/format.h>

#include "codegen/llvm/float_ops.h"
#include "codegen/llvm/float_range.h"
#include "codegen/llvm/int_ops.h"
#include "codegen/llvm/math.h"

namespace calotype::llvm_backend {

using ir::Op;
using llvm::Value;

Value* ExprEmitter::emit(const Expr& e) {
  if (e->op == Op::Const) return constant(e);
  if (e->op == Op::Variable) return variable(e);
  if (auto it = memo_.find(e.node().get()); it != memo_.end()) return it->second.value;
  Value* value = emit_node(e);
  if (memo_.emplace(e.node().get(), Memo{e, value}).second) memo_order_.push_back(e.node().get());
  return value;
}

Value* ExprEmitter::constant(const Expr& e) {
  llvm::Type* type = register_type(b_.getContext(), e->type);
  if (!e->type.is_float()) {
    return llvm::ConstantInt::getSigned(type, std::get<std::int64_t>(e->attr));
  }
  double value = std::get<double>(e->attr);
  if (!is_narrow_float(e->type)) return llvm::ConstantFP::get(type, value);
  // Constants are rounded to their type already, so they are exact as f32.
  Value* wide = llvm::ConstantFP::get(with_element(type, b_.getFloatTy()), value);
  return narrow(b_, e->type, wide);
}

Value* ExprEmitter::variable(const Expr& e) {
  auto it = environment_.symbols.find(ir::symbol_of(e).get());
  if (it == environment_.symbols.end())
    internal_error("the variable " + ir::symbol_of(e)->name + " is not bound");
  return it->second;
}

Value* ExprEmitter::let(const Expr& e) {
  Value* value = emit(e->args[0]);
  Bound bound(environment_, ir::symbol_of(e), value, e->args[0]);
  MemoScope scope(*this, /*fresh=*/bound.shadows());
  return emit(e->args[1]);
}

Value* ExprEmitter::strict(const Expr& e) {
  if (!contract_) return emit(e->args[0]);
  MemoScope scope(*this, /*fresh=*/true);  // nodes shared with the outside may have been contracted there
  contract_ = false;
  Value* result = emit(e->args[0]);
  contract_ = true;
  return result;
}

Value* ExprEmitter::emit_node(const Expr& e) {
  switch (ir::info(e->op).group) {
    case ir::OpGroup::arith:
    case ir::OpGroup::bits:
      return arithmetic(e);
    case ir::OpGroup::compare:
      return comparison(e);
    case ir::OpGroup::memory:
      return load(e);
    case ir::OpGroup::vector:
      return vector_op(e);
    default:
      break;
  }
  switch (e->op) {
    case Op::And:
      return b_.CreateAnd(emit(e->args[0]), emit(e->args[1]));
    case Op::Or:
      return b_.CreateOr(emit(e->args[0]), emit(e->args[1]));
    case Op::Not:
      return b_.CreateNot(emit(e->args[0]));
    case Op::Select: {
      Value* condition = emit(e->args[0]);
      Value* yes = emit(e->args[1]);
      return b_.CreateSelect(condition, yes, emit(e->args[2]));
    }
    case Op::Cast:
      if (fits_integer(e->args[0], e->type))
        return convert_in_range(b_, e->type, e->args[0]->type, emit(e->args[0]));
      return convert(b_, e->type, e->args[0]->type, emit(e->args[0]));
    case Op::Bitcast:
      return b_.CreateBitCast(emit(e->args[0]), register_type(b_.getContext(), e->type));
    case Op::Likely:
      return emit(e->args[0]);
    case Op::Strict:
      return strict(e);
    case Op::Let:
      return let(e);
    default:
      break;
  }
  std::vector<Value*> operands;  // what is left are math functions
  for (const Expr& arg : e->args) operands.push_back(widen(b_, arg->type, emit(arg)));
  return narrow(b_, e->type, emit_math(b_, settings_.machine, e->op, operands));
}

namespace {

/// Operands in the type itself, f32 or f64.
Value* float_arithmetic(Builder& b, Op op, Value* x, Value* y) {
  switch (op) {
    case Op::Add:
      return b.CreateFAdd(x, y);
    case Op::Sub:
      return b.CreateFSub(x, y);
    case Op::Mul:
      return b.CreateFMul(x, y);
    case Op::Div:
      return b.CreateFDiv(x, y);
    case Op::Min:
      return float_min(b, x, y);
    case Op::Max:
      return float_max(b, x, y);
    default:
      internal_error(fmt::format("{} of floats", ir::info(op).name));
  }
}

/// x - y * floor(x / y), each step rounded to the type.
Value* float_mod(Builder& b, Type t, Value* x, Value* y) {
  auto rounded = [&](Value* v) { return widen(b, t, narrow(b, t, v)); };
  Value* quotient = b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, rounded(b.CreateFDiv(x, y)));
  return b.CreateFSub(x, rounded(b.CreateFMul(y, quotient)));
}

/// Neg and Abs only touch the sign bit, which needs no widening.
Value* float_unary(Builder& b, Op op, Type t, Value* x) {
  if (is_narrow_float(t)) {
    return op == Op::Neg ? b.CreateXor(x, llvm::ConstantInt::get(x->getType(), 0x8000))
                         : b.CreateAnd(x, llvm::ConstantInt::get(x->getType(), 0x7fff));
  }
  return op == Op::Neg ? b.CreateFNeg(x) : b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
}

Value* int_extreme(Builder& b, Op op, Type t, Value* x, Value* y) {
  namespace I = llvm::Intrinsic;
  auto id = op == Op::Min ? (t.is_int() ? I::smin : I::umin) : (t.is_int() ? I::smax : I::umax);
  return b.CreateBinaryIntrinsic(id, x, y);
}

Value* int_binary(Builder& b, Op op, Type t, Value* x, Value* y) {
  switch (op) {
    case Op::Add:
      return b.CreateAdd(x, y);
    case Op::Sub:
      return b.CreateSub(x, y);
    case Op::Mul:
      return b.CreateMul(x, y);
    case Op::Div:
      return floor_div(b, t, x, y);
    case Op::Mod:
      return euclidean_mod(b, t, x, y);
    case Op::TruncDiv:
      return trunc_div(b, t, x, y);
    case Op::TruncMod:
      return trunc_mod(b, t, x, y);
    case Op::Min:
    case Op::Max:
      return int_extreme(b, op, t, x, y);
    case Op::BitAnd:
      return b.CreateAnd(x, y);
    case Op::BitOr:
      return b.CreateOr(x, y);
    case Op::BitXor:
      return b.CreateXor(x, y);
    default:
      internal_error(fmt::format("{} of integers", ir::info(op).name));
  }
}

Value* int_unary(Builder& b, Op op, Type t, Value* x) {
  switch (op) {
    case Op::Neg:
      return b.CreateNeg(x);
    case Op::BitNot:
      return b.CreateNot(x);
    case Op::Popcount:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
    case Op::CountLeadingZeros:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b.getFalse());
    case Op::CountTrailingZeros:
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, x, b.getFalse());
    default:
      return t.is_int() ? b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b.getFalse()) : x;
  }
}

}  // namespace

Value* ExprEmitter::arithmetic(const Expr& e) {
  const Type t = e->args[0]->type;
  if (Value* fused = contracted(e)) return fused;
  if (Value* sum = accumulated(e)) return sum;
  Value* x = emit(e->args[0]);
  if (e->args.size() == 1) return t.is_float() ? float_unary(b_, e->op, t, x) : int_unary(b_, e->op, t, x);
  Value* y = emit(e->args[1]);
  if (e->op == Op::Fma) {
    Value* z = emit(e->args[2]);
    return t.is_float() ? fused_multiply_add(b_, t, x, y, z) : b_.CreateAdd(b_.CreateMul(x, y), z);
  }
  if (e->op == Op::Shl || e->op == Op::Shr) return shift(b_, t, x, e->args[1]->type, y, e->op == Op::Shl);
  if (!t.is_float()) return int_binary(b_, e->op, t, x, y);
  x = widen(b_, t, x);
  y = widen(b_, t, y);
  return narrow(b_, t, e->op == Op::Mod ? float_mod(b_, t, x, y) : float_arithmetic(b_, e->op, x, y));
}

/// x * y + z, x * y - z or z - x * y as one operation, or null. A product whose value is there already is
/// used as it is.
Value* ExprEmitter::contracted(const Expr& e) {
  const Type t = e->type;
  if (!contract_ || !settings_.machine.fma || !t.is_float() || t.bits < 32) return nullptr;
  if (e->op != Op::Add && e->op != Op::Sub) return nullptr;
  auto fresh_product = [&](const Expr& arg) {
    return arg->op == Op::Mul && !memo_.contains(arg.node().get());
  };
  auto fma = [&](Value* x, Value* y, Value* z) {
    return b_.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, z});
  };
  const Expr &first = e->args[0], &second = e->args[1];
  if (fresh_product(second)) {
    Value* x = emit(second->args[0]);
    Value* y = emit(second->args[1]);
    return fma(e->op == Op::Sub ? b_.CreateFNeg(x) : x, y, emit(first));
  }
  if (fresh_product(first)) {
    Value* x = emit(first->args[0]);
    Value* y = emit(first->args[1]);
    Value* z = emit(second);
    return fma(x, y, e->op == Op::Sub ? b_.CreateFNeg(z) : z);
  }
  return nullptr;
}

Value* ExprEmitter::comparison(const Expr& e) {
  if (Value* narrow_lanes = ramp_comparison(e)) return narrow_lanes;
  const Type t = e->args[0]->type;
  Value* x = emit(e->args[0]);
  Value* y = emit(e->args[1]);
  using P = llvm::CmpInst::Predicate;
  if (t.is_float()) {
    P predicate = e->op == Op::Eq   ? P::FCMP_OEQ
                  : e->op == Op::Ne ? P::FCMP_UNE
                  : e->op == Op::Lt ? P::FCMP_OLT
                                    : P::FCMP_OLE;
    return b_.CreateFCmp(predicate, widen(b_, t, x), widen(b_, t, y));
  }
  P predicate = e->op == Op::Eq   ? P::ICMP_EQ
                : e->op == Op::Ne ? P::ICMP_NE
                : e->op == Op::Lt ? (t.is_int() ? P::ICMP_SLT : P::ICMP_ULT)
                                  : (t.is_int() ? P::ICMP_SLE : P::ICMP_ULE);
  return b_.CreateICmp(predicate, x, y);
}

Value* ExprEmitter::vector_op(const Expr& e) {
  Value* first = e->op == Op::Ramp ? nullptr : emit(e->args[0]);
  switch (e->op) {
    case Op::Ramp:
      return ramp(e);
    case Op::Broadcast: {
      if (lanes_of(first) == 1) return splat(b_, first, e->type.lanes);
      return repeated(b_, first, e->type.lanes / lanes_of(first));
    }
    case Op::Lane: {
      auto lane = ir::as_int(e->args[1]);
      if (!lane) internal_error("a lane number that is not constant");
      return lanes_of(first) == 1 ? first : b_.CreateExtractElement(first, static_cast<uint64_t>(*lane));
    }
    default:
      return reduce(e);
  }
}

/// base + i * stride in lane i; with a vector base of m lanes, in each group i of m lanes.
Value* ExprEmitter::ramp(const Expr& e) {
  Value* base = emit(e->args[0]);
  Value* stride = emit(e->args[1]);
  int lanes = e->type.lanes, group = lanes_of(base);
  std::vector<int> repeat, number;
  std::vector<llvm::Constant*> steps;
  for (int i = 0; i < lanes; ++i) {
    repeat.push_back(i % group);
    steps.push_back(
        llvm::ConstantInt::get(base->getType()->getScalarType(), static_cast<uint64_t>(i / group)));
  }
  auto widened = [&](Value* v) {
    return group == 1 ? splat(b_, v, lanes) : b_.CreateShuffleVector(v, repeat);
  };
  if (lanes == 1) return base;
  return b_.CreateAdd(widened(base), b_.CreateMul(widened(stride), llvm::ConstantVector::get(steps)));
}

/// In each group neighbours are combined until one lane is left (an odd last one waits): the tree whose
/// leaves are the lanes in order.
Value* ExprEmitter::reduce(const Expr& e) {
  if (Value* value = dot(e, {})) return value;
  const Type t = e->args[0]->type;
  const Op op = e->op == Op::ReduceAdd   ? Op::Add
                : e->op == Op::ReduceMul ? Op::Mul
                : e->op == Op::ReduceMin ? Op::Min
                                         : Op::Max;
  Value* v = emit(e->args[0]);
  const int groups = e->type.lanes;
  for (int size = lanes_of(v) / groups; size > 1; size = size / 2 + size % 2) {
    const int pairs = size / 2;
    std::vector<int> even, odd, last;
    for (int i = 0; i < groups * pairs; ++i) {
      even.push_back(i / pairs * size + i % pairs * 2);
      odd.push_back(even.back() + 1);
    }
    const Type half = t.with_lanes(groups * pairs);
    const auto pick = [&](const std::vector<int>& which) -> Value* {
      return which.size() == 1 ? b_.CreateExtractElement(v, static_cast<std::uint64_t>(which[0]))
                               : b_.CreateShuffleVector(v, which);
    };
    Value *x = pick(even), *y = pick(odd);
    Value* combined = t.is_float()
                          ? narrow(b_, half, float_arithmetic(b_, op, widen(b_, half, x), widen(b_, half, y)))
                          : int_binary(b_, op, half, x, y);
    v = size % 2 == 0 ? combined : with_last(combined, v, groups);
  }
  return v;
}

/// Of a reduction: behind the pairs of each group its odd last lane.
Value* ExprEmitter::with_last(Value* pairs, Value* lanes, int groups) {
  const int size = lanes_of(lanes) / groups, count = size / 2;
  std::vector<int> widened, merged;
  for (int i = 0; i < lanes_of(lanes); ++i) widened.push_back(i < groups * count ? i : -1);
  Value* all =
      groups * count == 1 ? splat(b_, pairs, lanes_of(lanes)) : b_.CreateShuffleVector(pairs, widened);
  for (int g = 0; g < groups; ++g) {
    for (int i = 0; i < count; ++i) merged.push_back(g * count + i);
    merged.push_back(lanes_of(lanes) + g * size + size - 1);
  }
  return b_.CreateShuffleVector(all, lanes, merged);
}

}  // namespace calotype::llvm_backend
