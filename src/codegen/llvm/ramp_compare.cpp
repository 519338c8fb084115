// Comparisons of 64-bit indices that are a constant apart with a limit: the predicates of ragged tails. As
// 64-bit lanes they would cost several wide vectors; the distance to the limit is a scalar, which clamped
// fits a narrow lane.
#include <algorithm>

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

/// The index as base + steps[i] in lane i with constants from 0 to `most`; none for any other.
std::optional<ExprEmitter::Steps> ExprEmitter::as_steps(const Expr& index, std::int64_t most) const {
  const int lanes = index->type.lanes;
  const auto affine = as_affine(index);
  const std::optional<Rows> rows =
      affine ? Rows{1, *affine, ir::make_zero(index->type.element())} : find_rows(index);
  if (!rows) return std::nullopt;
  const auto within = ir::as_int(rows->row.stride), between = ir::as_int(rows->step);
  if (!within || !between || *within < 0 || *between < 0) return std::nullopt;
  const int count = std::max(rows->count, 1), per_row = lanes / count;
  if (*within * per_row + *between * count > most) return std::nullopt;
  Steps result{rows->row.base, {}};
  for (int i = 0; i < lanes; ++i) result.steps.push_back(i % per_row * *within + i / per_row * *between);
  return result;
}

/// For base + step < limit and its kin: the step of each lane against the distance limit - base, which only
/// matters within [-1, the largest step + 1]. Index arithmetic does not overflow. Null where the pattern is
/// another.
Value* ExprEmitter::ramp_comparison(const Expr& e) {
  const Type t = e->args[0]->type;
  if (t.element() != Int(64) || t.lanes == 1 || (e->op != ir::Op::Lt && e->op != ir::Op::Le)) return nullptr;
  const auto left = as_steps(e->args[0], INT16_MAX), right = as_steps(e->args[1], INT16_MAX);
  if (!left || !right || left->varies() == right->varies()) return nullptr;
  const bool ramp_is_left = left->varies();
  const Steps &ramp = ramp_is_left ? *left : *right, &limit = ramp_is_left ? *right : *left;

  const std::int64_t largest = ramp.largest() + 1;
  Value* distance = b_.CreateSub(emit(limit.base), emit(ramp.base));
  distance =
      b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, distance, b_.getInt64(static_cast<uint64_t>(largest)));
  distance = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, distance, b_.getInt64(~uint64_t{0}));
  llvm::Type* lane = b_.getIntNTy(static_cast<unsigned>(lane_bits(t.lanes, largest)));
  Value* limits = splat(b_, b_.CreateTrunc(distance, lane), t.lanes);
  std::vector<llvm::Constant*> constants;
  for (const std::int64_t step : ramp.steps) constants.push_back(llvm::ConstantInt::getSigned(lane, step));
  Value* steps = llvm::ConstantVector::get(constants);
  if (!ramp_is_left) std::swap(steps, limits);
  return e->op == ir::Op::Lt ? b_.CreateICmpSLT(steps, limits) : b_.CreateICmpSLE(steps, limits);
}

/// Whether a condition on rows of lanes holds in a lane of the first row if it does in that lane of any:
/// comparisons whose left side grows from row to row, all of which hold.
bool ExprEmitter::first_row_decides(const Expr& condition) const {
  const Expr e = look_through(condition);
  if (e->op == ir::Op::And) return first_row_decides(e->args[0]) && first_row_decides(e->args[1]);
  if (e->op == ir::Op::Broadcast) return e->args[0]->type.lanes == 1;
  if (e->op != ir::Op::Lt && e->op != ir::Op::Le) return false;
  const auto left = as_steps(e->args[0], INT32_MAX), right = as_steps(e->args[1], INT32_MAX);
  return left && right && !right->varies();
}

}  // namespace calotype::llvm_backend
