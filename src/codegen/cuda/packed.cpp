// Elements of 16 bits two to a register: whole vectors of them lie in registers as they do in memory.

#include <fmt/format.h>

#include "codegen/cuda/alignment.h"
#include "codegen/cuda/kernel_printer.h"
#include "codegen/cuda/types.h"

namespace calotype::cuda {

/// Halves that are stored as vectors alone, from even elements on: what is stored one by one takes a register
/// apart and puts it together again.
bool KernelPrinter::can_be_packed(const ir::Stmt& body, const ir::BufferPtr& buffer) const {
  if (buffer->space != ir::MemorySpace::Register || !is_half(buffer->type)) return false;
  bool good = true;
  ir::visit(body, [&](const ir::Stmt& s) {
    if (s->kind != ir::StmtKind::Store || s->buffer() != buffer) return;
    const Expr& index = s->exprs[2];
    good &= is_dense(index) && index->type.lanes % 2 == 0 &&
            power_of_two_divisor(index->args[0], facts_) % 2 == 0;
  });
  return good;
}

void KernelPrinter::store_pairs(const ir::Stmt& s, const Expr& value) {
  const ir::BufferPtr& buffer = s->buffer();
  const Expr& base = s->exprs[2]->args[0];
  const auto place = [&](const Expr& pair) {
    const Expr two = ir::make_int(base->type, 2);
    const Expr first = ir::simplify(ir::make(ir::Op::TruncDiv, base->type, {base, two}), facts_);
    const Expr number = ir::make(ir::Op::Cast, base->type, {pair});
    return ir::is_zero(first) ? number : ir::make(ir::Op::Add, base->type, {first, number});
  };
  const auto element = [&](const Expr& pair, int which) {
    const Expr first = ir::make(ir::Op::Mul, pair->type, {ir::make_int(pair->type, 2), pair});
    const Expr at = which == 0 ? first : ir::make(ir::Op::Add, pair->type, {first, ir::make_one(pair->type)});
    return scalar(name_shared(lane(value, at)), Arithmetic::Data, Precedence::Primary) + ".bits";
  };
  const std::string& pair_of = prelude_.use("pair_of_bits");
  lane_loop(value->type.lanes / 2, [&](const Expr& pair) {
    const std::string low = element(pair, 0), high = element(pair, 1);
    line(fmt::format("{}[{}] = {}({}, {});", names_.of(buffer), scalar(place(pair), Arithmetic::Index),
                     pair_of, low, high));
  });
}

void KernelPrinter::store_element(const ir::BufferPtr& buffer, const Expr& index, const std::string& value) {
  if (expressions_.is_packed(buffer)) {
    return line(fmt::format("{}({}, {}, ({}).bits);", prelude_.use("set_bits"), names_.of(buffer),
                            scalar(index, Arithmetic::Index), value));
  }
  line(fmt::format("{} = {};", expressions_.element(buffer, index), value));
}

}  // namespace calotype::cuda
