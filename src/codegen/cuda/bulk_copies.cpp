// Copies of rows and boxes that one thread starts and nobody carries, and the barriers in shared memory that
// count their bytes. Where a row or its place does not begin at a multiple of 16 bytes the threads carry it,
// as they do what is left at its end; they have stored it when they arrive.

#include <fmt/format.h>

#include "codegen/cuda/alignment.h"
#include "codegen/cuda/kernel_printer.h"
#include "codegen/cuda/types.h"
#include "instr/instruction.h"

namespace calotype::cuda {

using instr::kBulkBytes;
using ir::Op;

namespace {

/// Warps that are not all of the block arrive there, and others wait.
bool is_of_roles(const ir::Ring& ring) { return ring.arrivals > 0; }

}  // namespace

/// The rings and, for each, a bit a slot: how often it has been arrived at, odd or even.
void KernelPrinter::make_rings() {
  if (kernel_.rings.empty()) return;
  std::set<const ir::Symbol*> turns;  // rings may share one
  for (const ir::RingPtr& ring : kernel_.rings) {
    const std::string name = names_.declare(ring);
    rings_[ring.get()] = name;
    if (one_shared_block_)
      line(fmt::format("unsigned long long* const {} = (unsigned long long*)(shared_memory + {});", name,
                       ring->offset));
    else
      line(fmt::format("__shared__ unsigned long long {}[{}];", name, ring->slots));
    if (ring->turn && turns.insert(ring->turn.get()).second)
      line(fmt::format("int {} = 0;", names_.declare(ring->turn)));
    is_of_roles(*ring) ? make_role_ring(*ring) : make_common_ring(*ring);
  }
  line("__syncthreads();  // the rings are ready");
}

void KernelPrinter::make_common_ring(const ir::Ring& ring) {
  const std::string& name = rings_.at(&ring);
  line(fmt::format("unsigned int {}_turns = 0;", name));
  line(fmt::format("{}({}, {});", prelude_.use("make_ring"), name, ring.slots));
}

/// Its bits are the parity of what a thread waits for next: at first phase 0, or, where a slot is free
/// without it, the one before.
void KernelPrinter::make_role_ring(const ir::Ring& ring) {
  const std::string& name = rings_.at(&ring);
  line(fmt::format("unsigned int {}_phases = {};", name, ring.open ? "~0u" : "0"));
  line(fmt::format("{}({}, {}, {});", prelude_.use("make_ring"), name, ring.slots, ring.arrivals));
}

/// A block must not end while copies to it are under way: a guard may have skipped the iteration that would
/// have waited for them. Of slots that are complete, or were never used, this waits for nothing. Between
/// roles whoever consumes has waited for all that was copied.
void KernelPrinter::finish_rings() {
  for (const ir::RingPtr& ring : kernel_.rings) {
    if (ring->of_cluster || is_of_roles(*ring)) continue;
    const std::string& name = rings_.at(ring.get());
    line(fmt::format("finish_ring({0}, {1}, {0}_turns);", name, ring->slots));
    prelude_.use("finish_ring");
  }
}

std::string KernelPrinter::turn(const ir::Ring& ring) {
  const std::string& name = names_.of(ring.turn);
  return ring.slots == 2 ? fmt::format("{} ^= 1;", name)
                         : fmt::format("{0} = {0} + 1 == {1} ? 0 : {0} + 1;", name, ring.slots);
}

std::string KernelPrinter::slot_of(const ir::Ring& ring, const Expr& slot) {
  return ring.slots == 1 ? "0" : scalar(slot, Arithmetic::Index, Precedence::Unary);
}

std::string KernelPrinter::arrival(const ir::Stmt& s) {
  const ir::Ring& ring = *s->sync().ring;
  const std::string slot = slot_of(ring, s->exprs[0]), &name = rings_.at(&ring);
  const std::int64_t bytes = s->sync().bytes;
  if (s->exprs.size() > 1)
    return fmt::format("{}(&{}[{}], {});", prelude_.use("arrive_at"), name, slot,
                       scalar(s->exprs[1], Arithmetic::Index));
  if (is_of_roles(ring) && bytes > 0)
    return fmt::format("{}(&{}[{}], {});", prelude_.use("arrive_expecting"), name, slot, bytes);
  const std::string arrive = fmt::format("{}(&{}[{}]);", prelude_.use("arrive"), name, slot);
  if (is_of_roles(ring)) return arrive;
  if (bytes > 0) line(fmt::format("{}(&{}[{}], {});", prelude_.use("expect"), name, slot, bytes));
  line(arrive);
  return ring.slots == 1 ? name + "_turns ^= 1u;" : fmt::format("{}_turns ^= 1u << {};", name, slot);
}

/// For the latest arrival at the slot: the first is of parity 0.
std::string KernelPrinter::awaiting(const ir::Stmt& s) {
  const ir::Ring& ring = *s->sync().ring;
  const std::string slot = slot_of(ring, s->exprs[0]), &name = rings_.at(&ring);
  if (is_of_roles(ring))
    return fmt::format("{0}({1}, {2}, {1}_phases);", prelude_.use("await_next"), name, slot);
  const std::string turns = ring.slots == 1 ? name + "_turns" : fmt::format("({}_turns >> {})", name, slot);
  return fmt::format("{}(&{}[{}], ~{} & 1u);", prelude_.use(ring.of_cluster ? "await_sent" : "await"), name,
                     slot, turns);
}

void KernelPrinter::bulk_store(const ir::Stmt& s) {
  const ir::BulkStore& how = *s->bulk();
  const Expr &load = s->exprs[0], &index = s->exprs[2], &count = s->exprs[4];
  const ir::BufferPtr &to = how.buffer, &from = ir::buffer_of(load);
  const int size = to->type.bytes(), elements = kBulkBytes / size;
  const auto row_of = [&](const Expr& first) {
    return ir::make(Op::Ramp, first->type.with_lanes(elements), {first, ir::make_one(first->type)});
  };
  const bool whole = ir::is_one(s->exprs[5]) && piece_bytes(to, row_of(index)) == kBulkBytes &&
                     piece_bytes(from, row_of(load->args.back())) == kBulkBytes;
  if (!whole) return row_by_threads(s, "0");
  const bool ends_evenly = power_of_two_divisor(count, facts_) >= elements;
  const std::string number = scalar(count, Arithmetic::Index, Precedence::Product);
  const std::string copied = ends_evenly ? number : fmt::format("({} & ~{})", number, elements - 1);
  const std::string call =
      fmt::format("{}(&{}, &{}, {} * {}, &{}[{}]);", prelude_.use("copy_row"),
                  expressions_.element(to, index), expressions_.element(from, load->args.back()), copied,
                  size, rings_.at(how.ring.get()), slot_of(*how.ring, s->exprs[3]));
  line(how.common ? fmt::format("if ({}() == 0) {}", prelude_.use("thread_in_block"), call) : call);
  if (ends_evenly) return;
  row_by_threads(s, copied);
  line(prelude_.use("fence_copies") + "();");
}

/// A block must not end while its memory is being read.
void KernelPrinter::finish_boxes() {
  bool any = false;
  ir::visit(kernel_.body, [&](const ir::Stmt& s) {
    any |= s->kind == ir::StmtKind::Barrier && s->sync().kind == ir::SyncInfo::Kind::BoxesCommit;
  });
  if (any) line(prelude_.use("boxes_read") + "<0>();");
}

void KernelPrinter::box_store(const ir::Stmt& s) {
  const ir::BulkStore& how = *s->bulk();
  const std::size_t rank = how.map->box.size();
  std::string start;
  for (std::size_t d = 0; d < rank; ++d)
    start += (d > 0 ? ", " : "") + scalar(s->exprs[4 + d], Arithmetic::Index);
  if (how.out)
    return line(fmt::format("{}(&{}, {}, &{});", prelude_.use(fmt::format("send_box_{}d", rank)),
                            names_.of(how.map), start, expressions_.element(how.buffer, s->exprs[2])));
  // The bytes of one for several blocks are expected where those arrive at their rings.
  const Expr receivers = s->receivers();
  const std::string helper = fmt::format("{}_box_{}d", receivers.defined() ? "spread" : "copy", rank);
  const std::string last = receivers.defined()
                               ? scalar(receivers, Arithmetic::Index)
                               : std::to_string(how.map->elements() * how.buffer->type.bytes());
  const std::string call = fmt::format(
      "{}(&{}, &{}, {}, {}, &{}[{}]);", prelude_.use(helper), expressions_.element(how.buffer, s->exprs[2]),
      names_.of(how.map), start, last, rings_.at(how.ring.get()), slot_of(*how.ring, s->exprs[3]));
  line(
      fmt::format("if ({}() == 0) {}", prelude_.use(how.of_warp ? "lane_in_warp" : "thread_in_block"), call));
}

/// Elements from the first on.
void KernelPrinter::row_by_threads(const ir::Stmt& s, const std::string& first) {
  const ir::BulkStore& how = *s->bulk();
  const Expr &load = s->exprs[0], &index = s->exprs[2], &count = s->exprs[4], &step = s->exprs[5];
  const Type type = index->type;
  const ir::SymbolPtr at = ir::make_symbol(ir::SymbolKind::Loop, "i", type);
  kept_.push_back(at);
  NameScope scope(names_);
  const std::string last = scalar(count, Arithmetic::Index, Precedence::Sum);
  const std::string i = names_.declare(at);
  const std::string start =
      how.common ? fmt::format("{} + {}()", first, prelude_.use("thread_in_block")) : first;
  const std::string by =
      how.common ? fmt::format("{} += {}()", i, prelude_.use("threads_of_block")) : "++" + i;
  index_symbols_.insert(at.get());
  line(fmt::format("for ({0} {1} = {2}; {1} < {3}; {4}) {{", c_type(type), i, start, last, by));
  ++depth_;
  const Expr place = ir::make_var(at);
  const Expr distance = ir::is_one(step) ? place : ir::make(Op::Mul, type, {place, step});
  const Expr value = ir::make(Op::Load, load->type, {ir::make(Op::Add, type, {load->args.back(), distance})},
                              ir::buffer_of(load));
  const std::string text = scalar(value, Arithmetic::Data);
  store_element(how.buffer, ir::make(Op::Add, type, {index, place}), text);
  --depth_;
  line("}");
}

}  // namespace calotype::cuda
