// Columns of tiles that lie in memory of their own: elements a constant stride apart. Where the rows of the
// tile fill 16 bytes, as machines move and interleave them, the tile is transposed as a whole: reading all of
// its columns takes log2(stride) shuffles a register.
#include <llvm/Analysis/VectorUtils.h>

#include "codegen/llvm/expr_emitter.h"

namespace calotype::llvm_backend {

using llvm::Value;

namespace {

constexpr int kRowBytes = 16;

}  // namespace

/// Whether the strided run from `base` lies, with the elements between and around it that make up `stride`
/// whole vectors, in memory of a constant size. Vectors so placed are the same for all runs that interleave,
/// as the columns of a tile that is transposed: each is loaded once, and memory that is read in no other way
/// becomes registers.
bool ExprEmitter::whole_run_is_ours(const ir::Buffer& buffer, const Expr& base, std::int64_t stride,
                                    int lanes) {
  const auto start = ir::as_int(base);
  if (!start || *start < 0 || buffer.space != ir::MemorySpace::Stack) return false;
  std::int64_t size = 1;
  for (const Expr& extent : buffer.extents) {
    const auto known = ir::as_int(extent);
    if (!known) return false;
    size *= *known;
  }
  return *start - *start % stride + stride * lanes <= size;
}

/// Whether the run is a column of rows of 16 bytes, as many as make square blocks.
bool ExprEmitter::is_column(const ir::Buffer& buffer, Type type, const Expr& base, std::int64_t stride) {
  return stride > 1 && stride * type.element().bytes() == kRowBytes && !type.is_bool() &&
         type.lanes % stride == 0 && whole_run_is_ours(buffer, base, stride, type.lanes);
}

/// Register j of the tile has rows j, j + stride, j + 2 * stride, ..., a row in each 16 bytes; so each 16
/// bytes of all registers are a square block. Interleaving register i with that half of them further on, the
/// lower halves of rows and then the upper ones, gives each element's number in the block, row and column as
/// one, another bit of the row at its end and moves a bit of the column up: once for each bit, and register c
/// is column c. What the loads of other columns have in common with this is made once, by LLVM.
Value* ExprEmitter::load_column(const ir::BufferPtr& buffer, Type type, std::int64_t base, int stride) {
  const int blocks = type.lanes / stride, lead = static_cast<int>(base % stride);
  Value* tile = address(buffer, b_.getInt64(static_cast<std::uint64_t>(base - lead)));
  std::vector<Value*> registers;
  for (int j = 0; j < stride; ++j) {
    std::vector<Value*> rows;
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t row = block * stride + j;
      rows.push_back(
          dense_load(buffer, type.with_lanes(stride), offset(buffer, tile, row * stride), nullptr));
    }
    registers.push_back(blocks == 1 ? rows[0] : llvm::concatenateVectors(b_, rows));
  }
  std::vector<int> lower, upper;
  for (int i = 0; i < type.lanes; ++i) {
    const int first = i / stride * stride, at = i % stride;
    lower.push_back(first + at / 2 + at % 2 * type.lanes);
    upper.push_back(lower.back() + stride / 2);
  }
  for (int bit = 1; bit < stride; bit *= 2) {
    std::vector<Value*> next;
    for (int i = 0; i < stride / 2; ++i) {
      Value *x = registers[static_cast<std::size_t>(i)],
            *y = registers[static_cast<std::size_t>(i + stride / 2)];
      next.push_back(b_.CreateShuffleVector(x, y, lower));
      next.push_back(b_.CreateShuffleVector(x, y, upper));
    }
    registers = std::move(next);
  }
  return registers[static_cast<std::size_t>(lead)];
}

}  // namespace calotype::llvm_backend
