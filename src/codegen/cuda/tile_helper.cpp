// One function for each instruction of tiles that a kernel uses, made from its record.

#include "codegen/cuda/tile_helper.h"

#include <fmt/format.h>

#include <vector>

#include "calotype/error.h"
#include "codegen/cuda/names.h"
#include "codegen/cuda/types.h"
#include "instr/matrix.h"

namespace calotype::cuda {

using Place = instr::Operand::Place;

namespace {

constexpr std::size_t kInRow = 8;  // operands in a line

/// "a, b, c": so many in a line, the others in lines of their own.
std::string in_lines(const std::vector<std::string>& items, const std::string& line_break) {
  std::string text;
  for (std::size_t i = 0; i < items.size(); ++i)
    text += (i == 0 ? "" : i % kInRow == 0 ? "," + line_break : ", ") + items[i];
  return text;
}

/// The operands of an asm statement: numbered in the order in which they are added, the results first.
class AsmOperands {
 public:
  /// The words of an array, as "{%0, %1}".
  std::string words(const std::string& array, const std::string& type, int count, const char* direction) {
    const bool input = *direction == '\0', number = type == "float";
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
      const std::string word = fmt::format("{}[{}]", array, i);
      // PTX takes the bits of what it reads in no other type.
      names.push_back(input ? value(number ? fmt::format("__float_as_uint({})", word) : word, "r")
                            : result(word, direction, number ? "f" : "r"));
    }
    return "{" + in_lines(names, " \"\n      \" ") + "}";
  }
  std::string value(const std::string& text, const char* constraint) {
    inputs_.push_back(fmt::format("\"{}\"({})", constraint, text));
    return fmt::format("%{}", count_++);
  }
  std::string statement(const std::string& text, bool memory) const {
    const std::string clobber = memory ? "\n      : \"memory\"" : "";
    return fmt::format("  asm volatile(\n      \"{}\"\n      : {}\n      : {}{});\n", text,
                       in_lines(results_, "\n        "), in_lines(inputs_, "\n        "), clobber);
  }

 private:
  std::string result(const std::string& text, const char* direction, const char* letter) {
    results_.push_back(fmt::format("\"{}{}\"({})", direction, letter, text));
    return fmt::format("%{}", count_++);
  }

  std::vector<std::string> results_, inputs_;
  int count_ = 0;
};

std::string name_of(const ir::InstructionUse& use) {
  std::string name = legal_name(use.record->name);
  for (std::size_t i = 0; i < use.operands.size(); ++i)
    if (use.operands[i].transposed) name += fmt::format("_{}_transposed", use.record->operands[i].name);
  return name;
}

/// The parameters of the operands, in order.
std::string parameters(const ir::InstructionUse& use) {
  std::string text;
  for (std::size_t i = 0; i < use.operands.size(); ++i) {
    const instr::Operand& operand = use.record->operands[i];
    const std::string type = operand.place == Place::Matrix ? "unsigned long long "
                             : operand.place == Place::Rows
                                 ? "const void* "
                                 : fmt::format("{}{}* ", use.record->accesses[i].writes ? "" : "const ",
                                               word_type(use.operands[i].buffer->type));
    text += (i == 0 ? "" : ", ") + type + operand.name;
  }
  return text;
}

/// An operand of a product that is read.
std::string factor(const ir::InstructionUse& use, std::size_t i, AsmOperands& operands) {
  const instr::Operand& operand = use.record->operands[i];
  if (operand.place == Place::Matrix) return operands.value(operand.name, "l");
  const Type type = use.operands[i].buffer->type;
  return operands.words(operand.name, word_type(type), words_of(operand, type), "");
}

/// d = a * b + d, or + 0.
std::string product_of_warp(const ir::InstructionUse& use) {
  AsmOperands operands;
  const Type type = use.operands[0].buffer->type;
  const int words = words_of(use.record->operands[0], type);
  const std::string d = operands.words("d", word_type(type), words, "+");
  const std::string a = factor(use, 1, operands), b = factor(use, 2, operands);
  return fmt::format("  #pragma unroll\n  for (int i = 0; i < {}; ++i) d[i] = add ? d[i] : 0;\n", words) +
         operands.statement(fmt::format("{} \"\n      \"{}, {}, {}, {};", use.record->text, d, a, b, d),
                            false);
}

/// What follows the operands: signs, of all but integers, and of 16 bits which dimension is dense.
std::string immediates(const ir::InstructionUse& use) {
  const instr::TensorRule& rule = *use.record->rule;
  std::string text = rule.integer() ? "" : ", 1, 1";
  if (instr::bytes_of(rule.a) != 2) return text;
  for (std::size_t i = 1; i <= 2; ++i)
    if (use.record->operands[i].place == Place::Matrix) text += use.operands[i].transposed ? ", 1" : ", 0";
  return text;
}

std::string product_of_four_warps(const ir::InstructionUse& use) {
  AsmOperands operands;
  const Type type = use.operands[0].buffer->type;
  const std::string d = operands.words("d", word_type(type), words_of(use.record->operands[0], type), "+");
  const std::string a = factor(use, 1, operands), b = factor(use, 2, operands);
  const std::string add = operands.value("(int)add", "r");
  return operands.statement(
      fmt::format("{{ .reg .pred p; setp.ne.b32 p, {}, 0; \"\n      \"{} \"\n      \"{}, {}, {}, p{}; }}",
                  add, use.record->text, d, a, b, immediates(use)),
      false);
}

std::string move_text(const ir::InstructionUse& use) {
  const bool to_memory = use.record->operands[0].place == Place::Rows;
  const std::size_t i = to_memory ? 1 : 0;
  const instr::Operand& fragment = use.record->operands[i];
  const Type type = use.operands[i].buffer->type;
  AsmOperands operands;
  const std::string words =
      operands.words(fragment.name, word_type(type), words_of(fragment, type), to_memory ? "" : "=");
  const std::string row = fmt::format("[{}]", operands.value("shared_address(rows)", "r"));
  return operands.statement(
      fmt::format("{} {}, {};", use.record->text, to_memory ? row : words, to_memory ? words : row), true);
}

}  // namespace

std::string word_type(Type element) {
  return element.bytes() == kWordBytes ? c_type(element) : "unsigned int";
}

int words_of(const instr::Operand& operand, Type element) {
  return static_cast<int>(operand.layouts.front().size(layout::Axis::Register) * element.bytes() /
                          kWordBytes);
}

TileHelper tile_helper(const ir::InstructionUse& use) {
  const instr::Instruction& record = *use.record;
  const bool product = record.rule != nullptr;
  const std::string body = !product               ? move_text(use)
                           : record.threads == 32 ? product_of_warp(use)
                                                  : product_of_four_warps(use);
  std::string name = name_of(use);
  std::string text =
      fmt::format("@ void {}({}{}) {{\n{}}}\n", name, parameters(use), product ? ", bool add" : "", body);
  return {std::move(name), std::move(text)};
}

}  // namespace calotype::cuda
