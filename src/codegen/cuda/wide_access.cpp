// Dense vectors in memory as wide accesses: up to 16 bytes at once where the address is provably a multiple
// of that, through a small struct.

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/alignment.h"
#include "codegen/cuda/kernel_printer.h"
#include "codegen/cuda/types.h"

namespace calotype::cuda {

using ir::MemorySpace;
using ir::Op;

namespace {

constexpr int kWidest = 16;  // bytes of one access

bool is_load(const Expr& e) { return ir::is(e, Op::Load) || ir::is(e, Op::LoadIf); }

bool contains(const std::vector<Expr>& list, const Expr& e) {
  return std::any_of(list.begin(), list.end(), [&](const Expr& item) { return ir::equal(item, e); });
}

Expr all_of(const std::vector<Expr>& conditions) {
  Expr all = conditions.front();
  for (std::size_t i = 1; i < conditions.size(); ++i)
    all = ir::make(Op::And, all->type, {all, conditions[i]});
  return all;
}

}  // namespace

bool is_dense(const Expr& index) {
  return ir::is(index, Op::Ramp) && ir::is_one(index->args[1]) && index->args[0]->type.is_scalar();
}

int KernelPrinter::wide_bytes(const ir::BufferPtr& buffer, const Expr& index) const {
  const int bytes = piece_bytes(buffer, index);
  // Swizzled memory has neighbours within pieces alone.
  return buffer->swizzle == 0 || bytes == index->type.lanes * buffer->type.bytes() ? bytes : 0;
}

int KernelPrinter::piece_bytes(const ir::BufferPtr& buffer, const Expr& index) const {
  if (!is_dense(index)) return 0;
  const int element = buffer->type.bytes();
  std::int64_t align = kWidest;
  switch (buffer->space) {
    case MemorySpace::Argument:
      align = options_.aligned_arguments ? kWidest : std::max<std::int64_t>(element, buffer->alignment);
      break;
    case MemorySpace::Shared:
      align = buffer->offset % kWidest == 0 ? kWidest : element;
      break;
    case MemorySpace::Global:
      break;
    default:
      return 0;  // variables of the thread are best as single ones
  }
  align = std::min<std::int64_t>(align, std::int64_t{power_of_two_divisor(index->args[0], facts_)} * element);
  const std::int64_t bytes = std::int64_t{index->type.lanes} * element;
  align = std::min(align, bytes & -bytes);
  return align > element ? static_cast<int>(align) : 0;
}

std::string KernelPrinter::wide_type(const ir::BufferPtr& buffer, const Expr& index) {
  return prelude_.use_vector(buffer->type, index->type.lanes, wide_bytes(buffer, index));
}

std::string KernelPrinter::wide_address(const ir::BufferPtr& buffer, const Expr& index,
                                        const std::string& type) {
  const Expr& base = index->args[0];
  if (buffer->swizzle != 0) return fmt::format("({}*)&{}", type, expressions_.element(buffer, base));
  std::string address = names_.of(buffer);
  if (!ir::is_zero(base))
    address = fmt::format("({} + {})", address, scalar(base, Arithmetic::Index, Precedence::Sum));
  return fmt::format("({}*){}", type, address);
}

std::string KernelPrinter::wide_load(const ir::BufferPtr& buffer, const Expr& index,
                                     const std::string& type) {
  const std::string address = wide_address(buffer, index, "const " + type);
  const int bytes = index->type.lanes * buffer->type.bytes();
  if (!buffer->stream_loads || !can_stream(buffer, index)) return "*" + address;
  return fmt::format("{}({})", prelude_.use_streamed_load(type, bytes, buffer->read_only), address);
}

void KernelPrinter::wide_store(const ir::BufferPtr& buffer, const Expr& index, const std::string& type,
                               const std::string& value) {
  const std::string address = wide_address(buffer, index, type);
  const int bytes = index->type.lanes * buffer->type.bytes();
  if (!buffer->stream_stores || !can_stream(buffer, index))
    return line(fmt::format("*{} = {};", address, value));
  line(fmt::format("{}({}, {});", prelude_.use_streamed_store(type, bytes), address, value));
}

/// Whether one instruction moves the whole vector between global memory and registers.
bool KernelPrinter::can_stream(const ir::BufferPtr& buffer, const Expr& index) const {
  const bool global = buffer->space == MemorySpace::Argument || buffer->space == MemorySpace::Global;
  const int bytes = index->type.lanes * buffer->type.bytes();
  return global && wide_bytes(buffer, index) == bytes && bytes >= 4;
}

bool KernelPrinter::any_wide(const ir::Stmt& s) const {
  if (wide_bytes(s->buffer(), s->exprs[2]) > 0) return true;
  return ir::any_of(s->exprs[0], [&](const Expr& e) {
    return is_load(e) && wide_bytes(ir::buffer_of(e), e->args.back()) > 0;
  });
}

Expr KernelPrinter::hoist_loads(const Expr& e, const Conditions& known) {
  std::vector<std::pair<Expr, Expr>> done;  // equal loads are one
  return ir::rewrite(e, [&](const Expr& node) -> Expr {
    if (!is_load(node) || !node->type.is_vector()) return node;
    for (const auto& [load, variable] : done) {
      if (ir::equal(load, node)) return variable;
    }
    const Expr variable = hoist_load(node, known);
    done.emplace_back(node, variable);
    return variable;
  });
}

Expr KernelPrinter::hoist_load(const Expr& load, const Conditions& known) {
  const ir::BufferPtr& buffer = ir::buffer_of(load);
  const Expr& index = load->args.back();
  Conditions masks = ir::is(load, Op::LoadIf) ? conjuncts(load->args[0]) : Conditions{};
  std::erase_if(masks, [&](const Expr& mask) { return contains(known, mask); });
  Expr plain = masks.empty() ? ir::make(Op::Load, load->type, {index}, load->attr)
                             : ir::make(Op::LoadIf, load->type, {all_of(masks), index}, load->attr);
  if (wide_bytes(buffer, index) == 0 || (!masks.empty() && !all_lanes(all_of(masks)).defined())) return plain;
  const std::string type = wide_type(buffer, index);
  const std::string name = names_.fresh(buffer->name + "_v");
  if (masks.empty()) {
    line(fmt::format("const {} {} = {};", type, name, wide_load(buffer, index, type)));
  } else {
    declare_masked(plain, masks, name, type);
  }
  return vector_variable(name, load->type, true);
}

/// All lanes at once where all are wanted, else one by one; lanes that are not read are 0.
void KernelPrinter::declare_masked(const Expr& load, const Conditions& masks, const std::string& name,
                                   const std::string& type) {
  const ir::BufferPtr& buffer = ir::buffer_of(load);
  const Expr& index = load->args.back();
  line(fmt::format("{} {} = {{}};", type, name));
  line(fmt::format("if ({}) {{", scalar(all_lanes(all_of(masks)), Arithmetic::Index)));
  ++depth_;
  line(fmt::format("{} = {};", name, wide_load(buffer, index, type)));
  --depth_;
  if (!uniform(masks)) {
    line("} else {");
    ++depth_;
    lane_loop(load->type.lanes, [&](const Expr& at) {
      const std::string mask = scalar(lane(all_of(masks), at), Arithmetic::Index);
      line(fmt::format("if ({}) {}.v[{}] = {};", mask, name, scalar(at, Arithmetic::Index),
                       expressions_.element(buffer, lane(index, at))));
    });
    --depth_;
  }
  line("}");
}

}  // namespace calotype::cuda
