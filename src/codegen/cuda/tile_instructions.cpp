// Instructions of tiles: each is the call of a function that is made from its record.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "calotype/error.h"
#include "codegen/cuda/alignment.h"
#include "codegen/cuda/kernel_printer.h"
#include "codegen/cuda/tile_helper.h"
#include "instr/instruction.h"

namespace calotype::cuda {

using ir::Op;
using Place = instr::Operand::Place;

namespace {

constexpr std::size_t kLineLength = 100;  // without its indentation
constexpr int kPieceBytes = 16;           // what addresses of matrices count

[[noreturn]] void refuse(std::string message, std::string value) {
  throw Error({.kind = ErrorKind::Internal, .message = std::move(message), .value = std::move(value)});
}

/// Elements are of the record's size, and dimensions change places in matrices of 16 bits alone.
void check_operand(const ir::InstructionUse& use, std::size_t i) {
  const instr::Operand& operand = use.record->operands[i];
  const ir::OperandUse& own = use.operands[i];
  if (own.buffer->type.bytes() != operand.type.bytes())
    refuse(fmt::format("elements that {} has not", use.record->name), own.buffer->name);
  if (own.transposed && (operand.place != Place::Matrix || operand.type.bytes() != 2))
    refuse(fmt::format("a transposed operand that {} has not", use.record->name), own.buffer->name);
}

/// The expression divided by a number, where each of its terms is a multiple: indices do not overflow.
Expr divided(const Expr& e, std::int64_t by) {
  const std::optional<std::int64_t> constant = ir::as_int(e);
  if (constant && *constant % by == 0) return ir::make_int(e->type, *constant / by);
  const bool sum = ir::is(e, Op::Add) || ir::is(e, Op::Sub), product = ir::is(e, Op::Mul);
  if (!sum && !product) return {};
  const Expr b = divided(e->args[1], by);
  if (product) return b.defined() ? ir::make(Op::Mul, e->type, {e->args[0], b}) : b;
  const Expr a = divided(e->args[0], by);
  return a.defined() && b.defined() ? ir::make(e->op, e->type, {a, b}) : Expr();
}

}  // namespace

/// Buffers that instructions have as registers, and names that no variable may take.
void KernelPrinter::find_tile_registers() {
  std::set<std::string> helpers;
  ir::visit(kernel_.body, [&](const ir::Stmt& s) {
    if (s->kind != ir::StmtKind::Instruction) return;
    const ir::InstructionUse& use = s->instruction();
    for (std::size_t i = 0; i < use.operands.size(); ++i) {
      if (use.record->operands[i].place != Place::Registers) continue;
      const bool goes_on = use.record->accesses[i].completion == instr::Completion::ProductGroup;
      tile_registers_[use.operands[i].buffer.get()] |= goes_on;
    }
    helpers.insert(tile_helper(use).name);
  });
  for (const std::string& name : helpers) names_.fresh(name);
}

void KernelPrinter::instruction(const ir::Stmt& s) {
  const ir::InstructionUse& use = s->instruction();
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < use.operands.size(); ++i) {
    const Expr& index = s->exprs[i];
    check_operand(use, i);
    switch (use.record->operands[i].place) {
      case Place::Registers:
        arguments.push_back(registers_of(use, i, index));
        break;
      case Place::Rows:
        prelude_.use("shared_address");
        arguments.push_back("&" + expressions_.element(use.operands[i].buffer, index));
        break;
      case Place::Matrix:
        arguments.push_back(matrix_at(use.operands[i], index));
        break;
      case Place::Elements:
        refuse("an instruction of tiles with single elements", use.record->name);
    }
  }
  if (use.record->rule) arguments.push_back(scalar(s->exprs.back(), Arithmetic::Index));
  const TileHelper helper = tile_helper(use);
  prelude_.use_made(helper.text);
  call(helper.name, arguments);
}

/// In one line, or with the arguments in lines of their own.
void KernelPrinter::call(const std::string& function, const std::vector<std::string>& arguments) {
  const std::string whole = fmt::format("{}({});", function, fmt::join(arguments, ", "));
  if (whole.size() <= kLineLength) return line(whole);
  std::string text = function + "(";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string next = arguments[i] + (i + 1 < arguments.size() ? "," : ");");
    const bool breaks = i == 0 || text.size() + 1 + next.size() > kLineLength;
    if (breaks) line(text);
    text = breaks ? "    " + next : text + " " + next;
  }
  line(text);
}

/// The address of the first word.
std::string KernelPrinter::registers_of(const ir::InstructionUse& use, std::size_t i, const Expr& index) {
  const ir::BufferPtr& buffer = use.operands[i].buffer;
  const int in_word = kWordBytes / buffer->type.bytes();
  const std::optional<std::int64_t> first = ir::as_int(ir::simplify(index, facts_));
  if (!first || *first % in_word != 0)
    refuse(fmt::format("registers of {} that no constant tells", use.record->name), ir::to_string(index));
  const std::string& name = names_.of(buffer);
  return *first == 0 ? name : fmt::format("{} + {}", name, *first / in_word);
}

/// The description of a matrix that begins at an element: where that is counts in pieces of 16 bytes.
std::string KernelPrinter::matrix_at(const ir::OperandUse& use, const Expr& index) {
  const int elements = kPieceBytes / use.buffer->type.bytes();
  if (power_of_two_divisor(index, facts_) % elements != 0)
    refuse("a matrix that does not begin at a multiple of 16 bytes", ir::to_string(index));
  const Expr even = divided(index, elements);
  const Expr piece = ir::simplify(
      even.defined() ? even : ir::make(Op::Div, index->type, {index, ir::make_int(index->type, elements)}),
      facts_);
  return fmt::format("{}<{}, {}, {}>({}, {})", prelude_.use("matrix_at"), use.swizzle, use.leading,
                     use.stride, names_.of(use.buffer), scalar(piece, Arithmetic::Index));
}

/// Registers of products that go on, on either side of which the compiler leaves what uses them.
void KernelPrinter::pin_products() {
  for (const ir::BufferPtr& buffer : pinned_) {
    prelude_.use("pin_word_" + word_type(buffer->type));
    line(fmt::format("{}({});", prelude_.use("pin"), names_.of(buffer)));
  }
}

}  // namespace calotype::cuda
