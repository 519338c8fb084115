// Shared memory of a kernel: an array of its own for each allocation where they fit the 48 KB that a kernel
// may declare and none share an address, else places in one block of bytes.

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cuda/kernel_printer.h"
#include "codegen/cuda/types.h"
#include "instr/instruction.h"

namespace calotype::cuda {
namespace {

constexpr std::int64_t kDeclarable = 48 * 1024;
constexpr int kWide = 16;  // bytes of the widest accesses

struct Piece {
  std::int64_t begin, end;
};

std::vector<Piece> shared_pieces(const lower::Function& kernel) {
  std::vector<Piece> pieces;
  ir::visit(kernel.body, [&](const ir::Stmt& s) {
    if (s->kind != ir::StmtKind::Allocate || s->buffer()->space != ir::MemorySpace::Shared) return;
    std::int64_t bytes = s->buffer()->type.bytes();
    for (const Expr& e : s->buffer()->extents) bytes *= ir::as_int(e).value_or(0);
    pieces.push_back({s->buffer()->offset, s->buffer()->offset + bytes});
  });
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  return pieces;
}

std::int64_t shared_total(const lower::Function& kernel) {
  std::int64_t total = kernel.shared_bytes;
  for (const Piece& p : shared_pieces(kernel)) total = std::max(total, p.end);
  return total;
}

bool share_addresses(const lower::Function& kernel) {
  const std::vector<Piece> pieces = shared_pieces(kernel);
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].begin < pieces[i - 1].end) return true;
  }
  return false;
}

/// Of the beginning of the memory of boxes and of matrices that are described.
int alignment_of(const ir::Stmt& s, const ir::BufferPtr& buffer) {
  int align = 0;
  if (s->kind == ir::StmtKind::Store && s->box() && s->buffer() == buffer)
    align = instr::box_place_bytes(buffer->swizzle);
  if (s->kind == ir::StmtKind::Instruction)
    for (const ir::OperandUse& use : s->instruction().operands)
      if (use.buffer == buffer) align = std::max(align, 8 * use.swizzle);
  return align;
}

/// What the address of the whole must be a multiple of, in bytes.
int alignment_of(const lower::Function& kernel) {
  int align = 0;
  ir::visit(kernel.body, [&](const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::Allocate)
      align = std::max(align, instr::box_place_bytes(s->buffer()->swizzle));
    if (s->kind == ir::StmtKind::Instruction)
      for (const ir::OperandUse& use : s->instruction().operands) align = std::max(align, 8 * use.swizzle);
  });
  return align;
}

/// The same of an array of its own.
int alignment_of(const lower::Function& kernel, const ir::BufferPtr& buffer) {
  int align = std::max(kWide, 8 * buffer->swizzle);
  ir::visit(kernel.body, [&](const ir::Stmt& s) { align = std::max(align, alignment_of(s, buffer)); });
  return align;
}

}  // namespace

std::int64_t dynamic_shared_bytes(const lower::Function& kernel) {
  const std::int64_t total = shared_total(kernel);
  return total > kDeclarable ? total : 0;
}

void KernelPrinter::shared_memory() {
  const std::int64_t total = shared_total(kernel_);
  one_shared_block_ = total > kDeclarable || share_addresses(kernel_);
  if (total > kDeclarable) {
    line(
        fmt::format("extern __shared__ __align__({}) unsigned char shared_memory[];", alignment_of(kernel_)));
  } else if (one_shared_block_) {
    line(fmt::format("__shared__ __align__({}) unsigned char shared_memory[{}];", alignment_of(kernel_),
                     total));
  }
}

void KernelPrinter::shared_array(const ir::BufferPtr& buffer, std::int64_t elements) {
  const std::string type = c_type(buffer->type);
  const std::string name = names_.declare(buffer);
  if (one_shared_block_) {
    line(fmt::format("{0}* const {1} = ({0}*)(shared_memory + {2});", type, name, buffer->offset));
  } else {
    line(fmt::format("__shared__ __align__({}) {} {}[{}];", alignment_of(kernel_, buffer), type, name,
                     std::max<std::int64_t>(elements, 1)));
  }
}

}  // namespace calotype::cuda
