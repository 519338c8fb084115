// Copies that a thread starts and does not wait for: in pieces of 16, 8 or 4 bytes where both memories have
// them at multiples of that, else element by element. Elements smaller than 4 bytes that are alone are loaded
// and stored, which is complete at the same barrier.

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/kernel_printer.h"

namespace calotype::cuda {

using ir::Op;

namespace {

constexpr int kLeastBytes = 4;
constexpr std::size_t kLineLength = 90;  // without its indentation

}  // namespace

void KernelPrinter::async_store(const ir::Stmt& s) {
  const Conditions conditions = conjuncts(s->exprs[1]);
  const Expr value = drop_known(s->exprs[0], conditions);
  const bool vector = s->exprs[2]->type.is_vector();
  const int bytes = vector && ir::is(value, Op::Load)
                        ? std::min(piece_bytes(s->buffer(), s->exprs[2]),
                                   piece_bytes(ir::buffer_of(value), value->args.back()))
                        : 0;
  const auto lanes = [&](bool tested) {
    lane_loop(value->type.lanes, [&](const Expr& at) {
      if (!tested) return copy_lane(s, value, at);
      line(fmt::format("if ({}) {{", scalar(lane(s->exprs[1], at), Arithmetic::Index)));
      ++depth_;
      copy_lane(s, value, at);
      --depth_;
      line("}");
    });
  };
  const auto whole = [&] {
    if (!vector) return copy_element(s->buffer(), s->exprs[2], value);
    bytes < kLeastBytes ? lanes(false) : copy_pieces(s, value, bytes);
  };
  if (conditions.empty()) return whole();
  const Expr all = vector ? all_lanes(s->exprs[1]) : s->exprs[1];
  const bool same_for_all = !vector || uniform(conditions);
  if (!all.defined() || (!same_for_all && bytes < kLeastBytes)) return lanes(true);
  line(fmt::format("if ({}) {{", scalar(all, Arithmetic::Index)));
  ++depth_;
  whole();
  --depth_;
  if (!same_for_all) {
    line("} else {");
    ++depth_;
    lanes(true);
    --depth_;
  }
  line("}");
}

void KernelPrinter::copy_lane(const ir::Stmt& s, const Expr& value, const Expr& at) {
  copy_element(s->buffer(), lane(s->exprs[2], at), lane(value, at));
}

void KernelPrinter::copy_pieces(const ir::Stmt& s, const Expr& value, int bytes) {
  const Expr &to = s->exprs[2], &from = value->args.back();
  const int elements = bytes / s->buffer()->type.bytes(), pieces = value->type.lanes / elements;
  if (pieces == 1) return start_copy(s->buffer(), to->args[0], ir::buffer_of(value), from->args[0], bytes);
  lane_loop(pieces, [&](const Expr& at) {
    const Expr first = ir::make(Op::Mul, Int(32), {at, ir::make_int(Int(32), elements)});
    start_copy(s->buffer(), lane(to, first), ir::buffer_of(value), lane(from, first), bytes);
  });
}

void KernelPrinter::copy_element(const ir::BufferPtr& to, const Expr& index, const Expr& value) {
  const int bytes = to->type.bytes();
  if (ir::is(value, Op::Load) && bytes >= kLeastBytes)
    return start_copy(to, index, ir::buffer_of(value), value->args.back(), bytes);
  const std::string text = scalar(value, Arithmetic::Data);
  line(fmt::format("{} = {};", expressions_.element(to, index), text));
}

void KernelPrinter::start_copy(const ir::BufferPtr& to, const Expr& index, const ir::BufferPtr& from,
                               const Expr& from_index, int bytes) {
  const std::string& helper = prelude_.use(fmt::format("copy_async_{}", bytes));
  const std::string place = fmt::format("{}(&{},", helper, expressions_.element(to, index));
  const std::string source = fmt::format("&{});", expressions_.element(from, from_index));
  if (place.size() + source.size() <= kLineLength) return line(place + " " + source);
  line(place);
  line(std::string(helper.size() + 1, ' ') + source);
}

}  // namespace calotype::cuda
