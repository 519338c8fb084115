// The kernels with instructions of tiles.

#include "tiles.h"

namespace calotype_test {
namespace {

/// The operands of an instruction in memory of the kernel's.
struct Operands {
  std::vector<ir::BufferPtr> arguments, own;
  std::vector<ir::Stmt> before, after;
  ir::InstructionUse use;
  std::vector<Expr> indices;
  std::int64_t shared = 0;  // bytes
};
constexpr std::int64_t kSharedBytes = 16384;  // of an operand

ir::BufferPtr swizzled(const std::string& name, Type type, std::int64_t elements, int swizzle,
                       std::int64_t offset) {
  ir::Buffer b = *storage(name, type, ir::MemorySpace::Shared, elements, offset);
  b.swizzle = swizzle;
  return ir::make_buffer(b);
}

void add_registers(Operands& all, const instr::Operand& operand, bool written, const Expr& thread) {
  const int elements = in_registers(operand);
  const Type type = held(operand.type);
  const auto memory =
      argument(operand.name + "_memory", type, static_cast<int>(all.arguments.size()), !written);
  const auto own = storage(operand.name, type, ir::MemorySpace::Register, elements);
  all.arguments.push_back(memory);
  all.own.push_back(own);
  const Expr first = mul(thread, number(elements));
  const Expr there = elements == 1 ? first : ramp(first, elements),
             here = elements == 1 ? number(0) : ramp(number(0), elements);
  all.before.push_back(ir::store(own, load(memory, there), {here}));
  if (written) all.after.push_back(ir::store(memory, load(own, here), {there}));
  all.use.operands.push_back({.buffer = own});
  all.indices.push_back(number(0));
}

void add_shared(Operands& all, const instr::Operand& operand, const OneInstruction& what,
                const Expr& thread) {
  const Type type = held(operand.type);
  const std::int64_t elements = kSharedBytes / type.bytes();
  const auto own = swizzled(operand.name, type, elements, what.swizzle, all.shared);
  all.shared += kSharedBytes;
  all.own.push_back(own);
  const bool rows = operand.place == Place::Rows;
  const bool transposed = operand.name == "a" ? what.transposed_a : what.transposed_b;
  all.use.operands.push_back({.buffer = own, .transposed = transposed});
  if (!rows) {
    all.use.operands.back().swizzle = what.swizzle;
    all.use.operands.back().leading = 16;
    all.use.operands.back().stride = 8 * 128;
  }
  all.indices.push_back(rows ? mul(thread, number(16 / type.bytes())) : number(64 / type.bytes()));
}

}  // namespace

lower::Function kernel_of(const OneInstruction& what) {
  const auto thread = symbol("thread", Int(32), ir::SymbolKind::Thread);
  Operands all;
  all.use.record = &what.record;
  all.use.name = what.record.name;
  for (std::size_t i = 0; i < what.record.operands.size(); ++i) {
    const instr::Operand& operand = what.record.operands[i];
    if (operand.place == Place::Registers)
      add_registers(all, operand, what.record.accesses[i].writes, var(thread));
    else
      add_shared(all, operand, what, var(thread));
  }
  if (what.record.rule) all.indices.push_back(ir::make_int(Bool(), !what.replaces));
  const bool wide = what.record.threads == 128;
  std::vector<ir::Stmt> body = all.before;
  if (wide) body.push_back(sync(Kind::ProductFence));
  body.push_back(ir::instruction(all.use, all.indices));
  if (wide) body.push_back(sync(Kind::ProductCommit));
  if (wide) body.push_back(sync(Kind::ProductWait));
  body.insert(body.end(), all.after.begin(), all.after.end());
  ir::Stmt whole = ir::block(body);
  for (const ir::BufferPtr& own : all.own) whole = ir::allocate(own, whole);
  return tile_kernel(what.name, all.arguments, thread, what.record.threads, whole);
}

namespace {

constexpr int kRows = 128, kColumns = 128, kDepth = 64, kSlots = 4, kTile = kRows * kDepth;
constexpr int kConsumers = 8;  // warps

/// What the roles of the product share.
struct Product {
  ir::BufferPtr a = argument("a", BFloat(16), 0, true), b = argument("b", BFloat(16), 1, true),
                out = argument("out", BFloat(16), 2, false);
  ir::BufferPtr a_tile = swizzled("a_tile", BFloat(16), kSlots* kTile, 128, 0),
                b_tile = swizzled("b_tile", BFloat(16), kSlots* kTile, 128, 2 * kSlots * kTile);
  ir::BufferPtr a_own = storage("a_own", BFloat(16), ir::MemorySpace::Register, kDepth / 2);
  ir::SymbolPtr k = symbol("K", Int(32), ir::SymbolKind::Dim), n = symbol("N", Int(32), ir::SymbolKind::Dim);
  ir::SymbolPtr thread = symbol("thread", Int(32), ir::SymbolKind::Thread),
                column = symbol("column", Int(32), ir::SymbolKind::Thread),
                row = symbol("row", Int(32), ir::SymbolKind::Thread), slot = symbol("slot");
  ir::RingPtr full = std::make_shared<const ir::Ring>(
      ir::Ring{.name = "full", .slots = kSlots, .offset = 4 * kSlots * kTile, .turn = slot, .arrivals = 1});
  ir::RingPtr empty = std::make_shared<const ir::Ring>(ir::Ring{.name = "empty",
                                                                .slots = kSlots,
                                                                .offset = 4 * kSlots * kTile + 32,
                                                                .turn = slot,
                                                                .arrivals = kConsumers,
                                                                .open = true});
  ir::TensorMapPtr a_map = map_of(a), b_map = map_of(b);

  static ir::TensorMapPtr map_of(const ir::BufferPtr& source) {
    return std::make_shared<const ir::TensorMap>(ir::TensorMap{
        .name = source->name + "_map", .source = source, .box = {kDepth, kRows}, .swizzle = 128});
  }
  ir::Stmt at_slot(Kind kind, const ir::RingPtr& ring, const std::string& reason = "") const {
    return ir::synchronise({.kind = kind, .reason = reason, .ring = ring}, var(slot));
  }
  /// The slot is free, or, where products go on, the one before it.
  ir::Stmt freed(const Expr& step, bool go_on) const {
    if (!go_on) return ir::block({sync(Kind::ProductWait), at_slot(Kind::Arrive, empty)});
    const Expr before = node(Op::BitAnd, Int(32), {add(var(slot), number(kSlots - 1)), number(kSlots - 1)});
    return ir::block(
        {ir::synchronise({.kind = Kind::ProductWait, .pending = 1}),
         ir::if_then(less(number(0), step), ir::synchronise({.kind = Kind::Arrive, .ring = empty}, before))});
  }
  ir::Stmt turn() const { return ir::synchronise({.kind = Kind::Turn, .ring = full}); }
  ir::Stmt each_step(const std::string& name, const std::function<ir::Stmt(const Expr&)>& body) const {
    const auto step = symbol(name, Int(32), ir::SymbolKind::Loop);
    return serial(step, node(Op::Div, Int(32), {var(k), number(kDepth)}), body(var(step)));
  }
  Expr in_slot(int element) const { return add(mul(var(slot), number(kTile)), number(element)); }

  ir::Stmt copies() const {
    const auto copy = [&](const ir::BufferPtr& tile, const ir::TensorMapPtr& map, const Expr& step,
                          const ir::SymbolPtr& first) {
      return ir::box_store({.buffer = tile, .ring = full, .map = map, .of_warp = true},
                           {.index = in_slot(0),
                            .slot = var(slot),
                            .start = {mul(step, number(kDepth)), mul(var(first), number(kRows))}});
    };
    return each_step("k", [&](const Expr& step) {
      return ir::block({at_slot(Kind::Await, empty, "the slot is free"), copy(a_tile, a_map, step, row),
                        copy(b_tile, b_map, step, column), at_slot(Kind::Arrive, full), turn()});
    });
  }

  /// The registers of sixteen rows and columns a warp: lanes point at rows, first those of eight columns.
  ir::Stmt load_fragments(const Expr& group) const {
    const instr::Instruction& record = instr::move({});
    const auto part = [&](Op op, int by) { return node(op, Int(32), {var(thread), number(by)}); };
    const Expr warp = node(Op::Mod, Int(32), {part(Op::Div, 32), number(4)}),
               half = node(Op::Mod, Int(32), {part(Op::Div, 16), number(2)});
    const Expr row_of_lane = add(add(mul(group, number(64)), mul(warp, number(16))), part(Op::Mod, 16));
    std::vector<ir::Stmt> all;
    for (int k = 0; k < kDepth; k += 16)
      all.push_back(ir::instruction(
          {.record = &record, .name = record.name, .operands = {{.buffer = a_own}, {.buffer = a_tile}}},
          {number(k / 2),
           add(in_slot(0), add(mul(row_of_lane, number(kDepth)), add(mul(half, number(8)), number(k))))}));
    return ir::block(all);
  }

  ir::Stmt products(const ir::BufferPtr& sum, const Expr& group, const RolesForm& form) const {
    const instr::Instruction& record =
        instr::product(*instr::find_rule("wgmma", instr::Number::BF16, instr::Number::BF16),
                       {.n = kColumns, .a_in_registers = form.a_in_registers});
    const auto in_memory = [](const ir::BufferPtr& tile) {
      return ir::OperandUse{.buffer = tile, .swizzle = 128, .leading = 16, .stride = 1024};
    };
    return each_step("k", [&](const Expr& step) {
      std::vector<ir::Stmt> all{at_slot(Kind::Await, full, "a_tile and b_tile")};
      if (form.a_in_registers) all.push_back(load_fragments(group));
      all.push_back(sync(Kind::ProductFence));
      for (int k = 0; k < kDepth; k += 16) {
        const ir::OperandUse of_a = form.a_in_registers ? ir::OperandUse{.buffer = a_own} : in_memory(a_tile);
        const Expr at_a =
            form.a_in_registers ? number(k / 2) : add(in_slot(k), mul(group, number(64 * kDepth)));
        const Expr adds = k > 0 ? ir::make_int(Bool(), 1) : less(number(0), step);
        all.push_back(ir::instruction(
            {.record = &record, .name = record.name, .operands = {{.buffer = sum}, of_a, in_memory(b_tile)}},
            {number(0), at_a, in_slot(k), adds}));
      }
      all.push_back(sync(Kind::ProductCommit));
      all.push_back(freed(step, form.go_on));
      all.push_back(turn());
      return ir::block(all);
    });
  }

  /// Two columns at once, as a lane has them side by side.
  ir::Stmt results(const ir::BufferPtr& sum, const Expr& group) const {
    const auto part = [&](int divisor, int extent) {
      const Expr quotient = node(Op::Div, Int(32), {var(thread), number(divisor)});
      return node(Op::Mod, Int(32), {quotient, number(extent)});
    };
    std::vector<ir::Stmt> stores;
    for (int i = 0; i < kColumns / 2; i += 2) {
      const Expr m = add(add(mul(var(row), number(kRows)), mul(group, number(64))),
                         add(add(mul(part(32, 4), number(16)), part(4, 8)), number(i / 2 % 2 * 8)));
      const Expr n_at =
          add(add(mul(var(column), number(kColumns)), mul(part(1, 4), number(2))), number(i / 4 * 8));
      stores.push_back(ir::store(out, to(BFloat(16), load(sum, ramp(number(i), 2))),
                                 {ramp(add(mul(m, var(n)), n_at), 2)}));
    }
    return ir::block(stores);
  }
};

}  // namespace

lower::Function product_of_roles(const RolesForm& form) {
  const Product p;
  const auto sum = storage("sum", Float(32), ir::MemorySpace::Register, kColumns / 2);
  // Asked of one lane: the assembler then knows that the warp has one value.
  const auto four = symbol("four");
  const Expr group = var(four);
  const auto registers = [](int count) {
    return ir::synchronise({.kind = Kind::Registers, .number = count});
  };
  ir::Stmt work = ir::allocate(
      sum, ir::block({p.products(sum, group, form), sync(Kind::ProductWait), p.results(sum, group)}));
  if (form.a_in_registers) work = ir::allocate(p.a_own, work);
  const Expr own_group = node(Op::Div, Int(32), {var(p.thread), number(128)});
  const ir::Stmt consumers = ir::block(
      {registers(240), ir::let_stmt(four, node(Op::Shuffle, Int(32), {own_group, number(0)}), work)});
  const ir::Stmt producer =
      ir::block({registers(24), ir::if_then(less(var(p.thread), number(32 * kConsumers + 32)),
                                            ir::note({"starts the copies"}, p.copies()))});
  lower::Function f = tile_kernel(
      "product", {p.out}, p.thread, 32 * (kConsumers + 4),
      ir::allocate(p.a_tile, ir::allocate(p.b_tile, ir::if_then(less(var(p.thread), number(32 * kConsumers)),
                                                                consumers, producer))));
  f.scalars = {p.k, p.n};
  f.multiples = {kDepth, kColumns};
  f.block_vars = {p.column, p.row, nullptr};
  f.rings = {p.full, p.empty};
  f.tensors = {p.a_map, p.b_map};
  f.shared_bytes = 4 * kSlots * kTile + 64;
  return f;
}

}  // namespace calotype_test
