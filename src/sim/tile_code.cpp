// Instructions of tiles to code: where the elements of their operands are.

#include <fmt/format.h>

#include "sim/builder.h"

namespace calotype::sim {

using instr::Operand;
using layout::Axis;

namespace {

/// Of each thread's registers.
void deal(TileOperand& operand, const layout::Layout& layout, int threads) {
  operand.registers = static_cast<int>(layout.size(Axis::Register));
  for (int thread = 0; thread < threads; ++thread)
    for (int r = 0; r < operand.registers; ++r) {
      const auto at = layout.coordinates({{Axis::ThreadX, thread}, {Axis::Register, r}});
      operand.coordinates.push_back({static_cast<std::int32_t>(at[0]), static_cast<std::int32_t>(at[1])});
    }
}

}  // namespace

TileOperand Builder::tile_operand(const ir::OperandUse& use, const Operand& operand, int threads,
                                  const Expr& index) {
  const bool in_registers = operand.place == Operand::Place::Registers;
  const BufferUse& buffer = code_.buffers[static_cast<std::size_t>(buffer_index(use.buffer))];
  if (in_registers ? !buffer.is_private() : !buffer.is_shared())
    refuse(code_,
           fmt::format("'{}' is an operand of tiles in {} memory", buffer.name, ir::to_string(buffer.space)));
  if (buffer.type.bytes() != operand.type.bytes())
    refuse(code_,
           fmt::format("'{}' of {} is an operand of {}", buffer.name, buffer.type.str(), operand.type.str()));
  TileOperand made{.first = this->index(index, 1), .use = use, .place = operand.place};
  made.access = access(use.buffer, index, false);
  if (in_registers) deal(made, operand.layouts.front(), threads);
  return made;
}

void Builder::tile(const ir::Stmt& s) {
  const ir::InstructionUse& use = s->instruction();
  const instr::Instruction& record = *use.record;
  if (use.operands.size() != record.operands.size() || s->exprs.size() < use.operands.size())
    refuse(code_, fmt::format("{} with {} operands", record.name, use.operands.size()));
  TileSite site{&record, {}};
  for (std::size_t i = 0; i < use.operands.size(); ++i)
    site.operands.push_back(tile_operand(use.operands[i], record.operands[i], record.threads, s->exprs[i]));
  for (const instr::Access& a : record.accesses)
    if (a.writes)
      note_written(code_.accesses[site.operands[static_cast<std::size_t>(a.operand)].access].buffer);
  Register adds;
  if (record.rule) adds = value(s->exprs.at(use.operands.size()), 1);
  Instruction& i = record.rule == nullptr                ? emit(run_move, "TileMove")
                   : instr::completes_as_product(record) ? emit(run_wide_product, "WideProduct")
                                                         : emit(run_product, "Product");
  i.c = adds;
  i.target = static_cast<int>(code_.tiles.size());
  const bool to_memory = site.operands.front().place == Operand::Place::Rows;
  i.site = site.operands[record.rule || to_memory ? 0 : 1].access;
  code_.tiles.push_back(std::move(site));
}

}  // namespace calotype::sim
