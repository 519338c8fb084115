// Accesses of loops that are vectorised together: rows of lanes, each of which is an access of its own.
#include "codegen/llvm/expr_emitter.h"

namespace calotype::llvm_backend {

using ir::Op;
using llvm::Value;

/// The index of several rows that are not one; none for any other.
std::optional<ExprEmitter::Rows> ExprEmitter::as_rows(const Expr& index) const {
  if (as_affine(index)) return std::nullopt;
  std::optional<Rows> rows = find_rows(index);
  return rows && rows->count > 0 ? rows : std::nullopt;
}

/// The index as base + row * step + i * stride in lane i of each row, if its form shows that. All lanes
/// equal: no rows.
std::optional<ExprEmitter::Rows> ExprEmitter::find_rows(const Expr& index) const {
  const Expr e = look_through(index);
  const Expr zero = ir::make_zero(e->type.element());
  if (e->op == Op::Ramp || e->op == Op::Broadcast) {
    const int lanes = e->args[0]->type.lanes;
    const auto row = lanes == 1 ? Affine{e->args[0], zero} : as_affine(e->args[0]);
    if (!row) return std::nullopt;
    if (e->op == Op::Broadcast) return Rows{lanes == 1 ? 0 : e->type.lanes / lanes, *row, zero};
    const auto step = lanes == 1 ? std::nullopt : as_affine(e->args[1]);
    if (!step || !ir::is_zero(step->stride)) return std::nullopt;
    return Rows{e->type.lanes / lanes, *row, step->base};
  }
  if (e->op != Op::Add && e->op != Op::Sub && e->op != Op::Mul) return std::nullopt;
  auto x = find_rows(e->args[0]), y = find_rows(e->args[1]);
  if (!x || !y || (x->count && y->count && x->count != y->count)) return std::nullopt;
  const int count = std::max(x->count, y->count);
  if (e->op != Op::Mul)
    return Rows{count,
                {combined_index(e->op, x->row.base, y->row.base),
                 combined_index(e->op, x->row.stride, y->row.stride)},
                combined_index(e->op, x->step, y->step)};
  if (y->count) std::swap(x, y);
  if (y->count) return std::nullopt;
  const Expr& factor = y->row.base;
  return Rows{count,
              {combined_index(Op::Mul, x->row.base, factor), combined_index(Op::Mul, x->row.stride, factor)},
              combined_index(Op::Mul, x->step, factor)};
}

/// The index of one row.
Expr ExprEmitter::row_index(const Rows& rows, int row, int lanes) const {
  const Expr number = ir::make_int(rows.step->type, row);
  const Expr first = combined_index(Op::Add, rows.row.base, combined_index(Op::Mul, rows.step, number));
  return ir::make(Op::Ramp, first->type.with_lanes(lanes), {first, rows.row.stride});
}

Value* ExprEmitter::row_of(Value* vector, int row, int lanes) {
  if (!vector) return nullptr;
  std::vector<int> taken;
  for (int i = 0; i < lanes; ++i) taken.push_back(row * lanes + i);
  return b_.CreateShuffleVector(vector, taken);
}

namespace {

/// Rows of constant steps that are one run of neighbours in memory: lane i of the run is lane order[i] of the
/// rows.
std::optional<std::vector<int>> order_in_run(int count, int lanes, const Expr& stride, const Expr& step) {
  const auto within = ir::as_int(stride), between = ir::as_int(step);
  const bool follow = within == 1 && between == lanes, interleave = within == count && between == 1;
  if (!follow && !interleave) return std::nullopt;
  std::vector<int> order;
  for (int i = 0; i < count * lanes; ++i) order.push_back(follow ? i : i % count * lanes + i / count);
  return order;
}

std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    result[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  return result;
}

Value* permuted(Builder& b, Value* vector, const std::vector<int>& order) {
  return vector ? b.CreateShuffleVector(vector, order) : nullptr;
}

}  // namespace

Value* ExprEmitter::load_rows(const ir::BufferPtr& buffer, Type type, const Rows& rows,
                              const Expr& predicate) {
  const int lanes = type.lanes / rows.count;
  if (ir::is_zero(rows.step)) return load_repeated(buffer, type, rows, predicate);
  Value* mask = predicate.defined() ? emit(predicate) : nullptr;
  if (const auto order = order_in_run(rows.count, lanes, rows.row.stride, rows.step)) {
    Value* run = dense_load(buffer, type, address(buffer, emit(rows.row.base)), permuted(b_, mask, *order));
    return permuted(b_, run, inverse(*order));
  }
  Value* all = llvm::PoisonValue::get(register_type(b_.getContext(), type));
  for (int row = 0; row < rows.count; ++row) {
    Value* loaded =
        load_vector(buffer, type.with_lanes(lanes), row_index(rows, row, lanes), row_of(mask, row, lanes));
    std::vector<int> widened(static_cast<std::size_t>(type.lanes), -1), merged;
    for (int i = 0; i < lanes; ++i) widened[static_cast<std::size_t>(i)] = i;
    for (int i = 0; i < type.lanes; ++i) merged.push_back(i / lanes == row ? type.lanes + i % lanes : i);
    all = b_.CreateShuffleVector(all, b_.CreateShuffleVector(loaded, widened), merged);
  }
  return all;
}

/// One row for all: loaded once, in the lanes that some row wants.
Value* ExprEmitter::load_repeated(const ir::BufferPtr& buffer, Type type, const Rows& rows,
                                  const Expr& predicate) {
  const int lanes = type.lanes / rows.count;
  Value *mask = predicate.defined() ? emit(predicate) : nullptr, *wanted = row_of(mask, 0, lanes);
  if (mask && !first_row_decides(predicate))
    for (int row = 1; row < rows.count; ++row) wanted = b_.CreateOr(wanted, row_of(mask, row, lanes));
  Value* row = load_vector(buffer, type.with_lanes(lanes), row_index(rows, 0, lanes), wanted);
  Value* all = repeated(b_, row, rows.count);
  return mask ? b_.CreateSelect(mask, all, llvm::Constant::getNullValue(all->getType())) : all;
}

/// Rows in order, so that of equal addresses the last one stays.
void ExprEmitter::store_rows(const ir::BufferPtr& buffer, Type type, Value* value, const Rows& rows,
                             Value* mask) {
  const int lanes = type.lanes / rows.count;
  if (const auto order = order_in_run(rows.count, lanes, rows.row.stride, rows.step))
    return dense_store(buffer, type, permuted(b_, value, *order), address(buffer, emit(rows.row.base)),
                       permuted(b_, mask, *order));
  for (int row = 0; row < rows.count; ++row)
    store_vector(buffer, type.with_lanes(lanes), row_of(value, row, lanes), row_index(rows, row, lanes),
                 row_of(mask, row, lanes));
}

}  // namespace calotype::llvm_backend
