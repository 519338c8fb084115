// Comparisons of a ramp of 64-bit indices with a limit: the predicates of ragged tails. As 64-bit lanes they
// would cost several wide vectors; the distance to the limit is a scalar, which clamped fits a narrow lane.
#include "codegen/llvm/expr_emitter.h"

namespace calotype::llvm_backend {

using llvm::Value;

namespace {

/// Lanes as narrow as keeps the whole within one wide register.
int lane_bits(int lanes, std::int64_t largest) {
  if (lanes <= 16) return 32;
  return lanes <= 32 || largest > INT8_MAX ? 16 : 8;
}

}  // namespace

/// For base + s * i < limit and its kin with a constant s > 0: s * i against the distance limit - base, which
/// only matters within [-1, s * lanes]. Index arithmetic does not overflow. Null where the pattern is
/// another.
Value* ExprEmitter::ramp_comparison(const Expr& e) {
  const Type t = e->args[0]->type;
  if (t.element() != Int(64) || t.lanes == 1 || (e->op != ir::Op::Lt && e->op != ir::Op::Le)) return nullptr;
  auto left = as_affine(e->args[0]), right = as_affine(e->args[1]);
  if (!left || !right) return nullptr;
  bool ramp_is_left = ir::is_zero(right->stride);
  const Affine& ramp = ramp_is_left ? *left : *right;
  const Affine& limit = ramp_is_left ? *right : *left;
  auto stride = ir::as_int(ramp.stride);
  if (!ir::is_zero(limit.stride) || !stride || *stride < 1 || *stride * t.lanes > INT16_MAX) return nullptr;

  const std::int64_t largest = *stride * t.lanes;
  Value* distance = b_.CreateSub(emit(limit.base), emit(ramp.base));
  distance =
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, distance, b_.getInt64(static_cast<uint64_t>(largest)));
  distance = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, distance, b_.getInt64(~uint64_t{0}));
  llvm::Type* lane = b_.getIntNTy(static_cast<unsigned>(lane_bits(t.lanes, largest)));
  Value* limits = splat(b_, b_.CreateTrunc(distance, lane), t.lanes);
  Value* steps = iota(lane, t.lanes, *stride);
  if (!ramp_is_left) std::swap(steps, limits);
  return e->op == ir::Op::Lt ? b_.CreateICmpSLT(steps, limits) : b_.CreateICmpSLE(steps, limits);
}

}  // namespace calotype::llvm_backend
