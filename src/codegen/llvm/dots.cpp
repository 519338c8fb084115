// Reductions of groups of lanes: sums of products of narrow integers as dot products.
#include <algorithm>

#include "codegen/llvm/dot_product.h"
#include "codegen/llvm/expr_emitter.h"
#include "ir/narrow_product.h"

namespace calotype::llvm_backend {

using ir::Op;
using llvm::Value;

/// Whether the expression repeats few lanes, which a load gives to all rows.
bool ExprEmitter::repeats(const Expr& e) const {
  if (e->op == Op::Broadcast || ir::is_const(e)) return true;
  if (e->op != Op::Load && e->op != Op::LoadIf) return false;
  const std::optional<Rows> rows = find_rows(e->args.back());
  return rows && (rows->count == 0 || ir::is_zero(rows->step));
}

/// The sums of a ReduceAdd, and `sum` (undefined: 0), by the machine's dot products; null if it has none for
/// them. Of two factors the one that repeats is not offset, so that what makes up for an offset is shared.
Value* ExprEmitter::dot(const Expr& e, const Expr& sum) {
  if (e->op != Op::ReduceAdd) return nullptr;
  std::optional<ir::NarrowProduct> product = ir::narrow_product(e->args[0]);
  if (!product) return nullptr;
  const int lanes = e->args[0]->type.lanes, group = lanes / e->type.lanes;
  Expr x = product->x, y = product->y.defined() ? product->y : ir::make_int(UInt(8, lanes), 1);
  if (repeats(x)) std::swap(x, y);
  // A small constant has the sign that the instructions want beside the other factor.
  if (const auto value = ir::as_int(y); value && *value >= 0 && *value <= 127)
    y = ir::make_int(x->type.is_int() ? UInt(8, lanes) : Int(8, lanes), *value);
  if (!has_dot_product(settings_.machine, x->type, y->type, group)) return nullptr;
  const auto masked = [&](const Expr& f) {
    return f->op == Op::LoadIf && ir::equal(f->args[0], product->mask);
  };
  Value *of_x = emit(x), *of_y = emit(y);
  if (product->mask.defined() && !masked(x) && !masked(y))
    of_x = b_.CreateSelect(emit(product->mask), of_x, llvm::Constant::getNullValue(of_x->getType()));
  Value* start = sum.defined() ? emit(sum) : nullptr;
  return dot_product(b_, settings_.machine, start, {of_x, x->type}, {of_y, y->type}, group);
}

/// x + y where one is a reduction that takes the other as what it starts from; else null.
Value* ExprEmitter::accumulated(const Expr& e) {
  if (e->op != Op::Add || e->type.is_float() || e->type.bits != 32) return nullptr;
  for (std::size_t side : {0, 1}) {
    const Expr& term = e->args[side];
    if (term->op != Op::ReduceAdd || memo_.contains(term.node().get())) continue;
    if (Value* value = dot(term, e->args[1 - side])) return value;
  }
  return nullptr;
}

}  // namespace calotype::llvm_backend
