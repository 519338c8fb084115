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
    case Engine::TensorCopy:
      return "tensor copy";
    case Engine::Tensor:
      return "tensor cores";
    case Engine::WideTensor:
      return "tensor cores, asynchronous";
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

/// Of the bulk copies, which differ in their loops alone.
static Instruction counted_copy(std::string name, Engine engine,
                                std::vector<std::pair<std::string, std::int64_t>> loops,
                                std::string meaning) {
  return {.name = std::move(name),
          .engine = engine,
          .loops = std::move(loops),
          .meaning = std::move(meaning),
          .operands = {{.name = "result", .type = {TypeCode::Int, 0, 1}},
                       {.name = "operand", .type = {TypeCode::Int, 0, 1}}},
          .accesses =
              {{.operand = 0, .writes = true, .proxy = Proxy::Async, .completion = Completion::Transaction},
               {.operand = 1, .writes = false, .proxy = Proxy::Async, .completion = Completion::Transaction}},
          .targets = {"cuda"}};
}

const Instruction& bulk_copy() {
  static const Instruction record =
      counted_copy("cp.async.bulk", Engine::BulkCopy, {{"i", 0}}, "result(i) = operand(i)");
  return record;
}

const Instruction& tensor_copy() {
  static const Instruction record =
      counted_copy("cp.async.bulk.tensor", Engine::TensorCopy, {{"i", 0}, {"j", 0}},
                   "result(i, j) = operand(i + x, j + y), 0 outside; 1 to 5 loops");
  return record;
}

const Instruction& tensor_store() {
  static const Instruction record{
      .name = "cp.async.bulk.tensor.global",
      .engine = Engine::TensorCopy,
      .loops = {{"i", 0}, {"j", 0}},
      .meaning = "result(i + x, j + y) = operand(i, j), nothing outside; 1 to 5 loops",
      .operands = {{.name = "result", .type = {TypeCode::Int, 0, 1}},
                   {.name = "operand", .type = {TypeCode::Int, 0, 1}}},
      .accesses =
          {{.operand = 0, .writes = true, .proxy = Proxy::Async, .completion = Completion::BoxGroup},
           {.operand = 1, .writes = false, .proxy = Proxy::Async, .completion = Completion::BoxGroup}},
      .targets = {"cuda"}};
  return record;
}

std::span<const Instruction* const> all() {
  static const std::array<const Instruction*, 5> records{&element(), &async_copy(), &bulk_copy(),
                                                         &tensor_copy(), &tensor_store()};
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

static bool completes(const Instruction& instruction, Completion when) {
  return std::any_of(instruction.accesses.begin(), instruction.accesses.end(),
                     [&](const Access& a) { return a.writes && a.completion == when; });
}

bool completes_by_group(const Instruction& instruction) {
  return completes(instruction, Completion::CommitGroup);
}

bool completes_as_product(const Instruction& instruction) {
  return completes(instruction, Completion::ProductGroup);
}

bool completes_as_boxes(const Instruction& instruction) {
  return completes(instruction, Completion::BoxGroup);
}

bool completes_by_transaction(const Instruction& instruction) {
  return completes(instruction, Completion::Transaction);
}

}  // namespace calotype::instr
