// The records, and what follows from their access tables.

#include "instr/instruction.h"

#include <algorithm>
#include <array>

namespace calotype::instr {

const char* to_string(Engine engine) {
  switch (engine) {
    case Engine::Generic:
      return "generic";
  }
  return "";
}

const Instruction& element() {
  static const Instruction record{
      .name = "element",
      .engine = Engine::Generic,
      .meaning = "result = f(operands)",
      .operands = {{.name = "result", .type = {TypeCode::Int, 0, 1}},
                   {.name = "operands", .type = {TypeCode::Int, 0, 1}}},
      .accesses = {{.operand = 0, .writes = true}, {.operand = 1, .writes = false}},
  };
  return record;
}

std::span<const Instruction* const> all() {
  static const std::array<const Instruction*, 1> records{&element()};
  return records;
}

bool ordered_by_barrier(const Instruction& first, const Instruction& second) {
  const auto in_order = [](const Instruction& i) {
    return std::all_of(i.accesses.begin(), i.accesses.end(), [](const Access& a) {
      return a.completion == Completion::ProgramOrder && a.proxy == Proxy::Generic;
    });
  };
  return in_order(first) && in_order(second);
}

}  // namespace calotype::instr
