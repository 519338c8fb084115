// The records, and what follows from their access tables.

#include "instr/instruction.h"

#include <algorithm>
#include <array>

namespace calotype::instr {

const char* to_string(Engine engine) {
  switch (engine) {
    case Engine::Generic:
      return "generic";
    case Engine::AsyncCopy:
      return "asynchronous copy";
    case Engine::BulkCopy:
      return "bulk copy";
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

const Instruction& async_copy() {
  static const Instruction record{
      .name = "cp.async",
      .engine = Engine::AsyncCopy,
      .meaning = "result = operand",
      .operands = {{.name = "result", .type = {TypeCode::Int, 0, 1}},
                   {.name = "operand", .type = {TypeCode::Int, 0, 1}}},
      .accesses = {{.operand = 0, .writes = true, .completion = Completion::CommitGroup},
                   {.operand = 1, .writes = false, .completion = Completion::CommitGroup}},
      .targets = {"cuda"},
  };
  return record;
}

const Instruction& bulk_copy() {
  static const Instruction record{
      .name = "cp.async.bulk",
      .engine = Engine::BulkCopy,
      .loops = {{"i", 0}},
      .meaning = "result(i) = operand(i)",
      .operands = {{.name = "result", .type = {TypeCode::Int, 0, 1}},
                   {.name = "operand", .type = {TypeCode::Int, 0, 1}}},
      .accesses =
          {{.operand = 0, .writes = true, .proxy = Proxy::Async, .completion = Completion::Transaction},
           {.operand = 1, .writes = false, .proxy = Proxy::Async, .completion = Completion::Transaction}},
      .targets = {"cuda"},
  };
  return record;
}

std::span<const Instruction* const> all() {
  static const std::array<const Instruction*, 3> records{&element(), &async_copy(), &bulk_copy()};
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

bool completes_by_group(const Instruction& instruction) {
  return std::any_of(instruction.accesses.begin(), instruction.accesses.end(),
                     [](const Access& a) { return a.writes && a.completion == Completion::CommitGroup; });
}

bool completes_by_transaction(const Instruction& instruction) {
  return std::any_of(instruction.accesses.begin(), instruction.accesses.end(),
                     [](const Access& a) { return a.writes && a.completion == Completion::Transaction; });
}

}  // namespace calotype::instr
