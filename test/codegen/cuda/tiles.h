#pragma once
// Kernels with instructions of tiles, written by hand.

#include <string>
#include <vector>

#include "instr/matrix.h"
#include "samples.h"

namespace calotype_test {

using Place = instr::Operand::Place;
using Kind = ir::SyncInfo::Kind;

/// The type that a buffer has whose elements an operand's are: bits of 8 bits.
inline Type held(Type type) { return type.bytes() == 1 && !type.is_int() ? UInt(8) : type; }

inline ir::Stmt sync(Kind kind) { return ir::synchronise({.kind = kind}); }

/// A kernel of one block of `threads`; threads along x.
inline lower::Function tile_kernel(const std::string& name, std::vector<ir::BufferPtr> buffers,
                                   const ir::SymbolPtr& thread, int threads, const ir::Stmt& body) {
  lower::Function f;
  f.name = name;
  f.gpu = true;
  f.buffers = std::move(buffers);
  f.grid = {number(1), number(1), number(1)};
  f.block = {number(threads), number(1), number(1)};
  f.thread_vars[0] = thread;
  f.max_threads = threads;
  f.body = body;
  return f;
}

/// Elements that a lane has of an operand in registers.
inline int in_registers(const instr::Operand& operand) {
  return static_cast<int>(operand.layouts.front().size(layout::Axis::Register));
}

/// A kernel around one instruction: operands in registers come from memory, or go there; rows and matrices
/// are in shared memory. Products add to what was, unless `replaces`.
struct OneInstruction {
  const instr::Instruction& record;
  std::string name;
  bool transposed_a = false, transposed_b = false;
  bool replaces = false;
  int swizzle = 128;
};
lower::Function kernel_of(const OneInstruction& what);

/// out(n, m) = sum over k of a(k, m) * b(k, n), of bf16 with 128 x 128 results a block, by roles: a warp
/// starts the copies of boxes to four slots, and eight multiply.
struct RolesForm {
  bool go_on = false;  ///< a slot is free when the next products have begun, else when its own are there
  bool a_in_registers = false;  ///< a warp has loaded its rows
};
lower::Function product_of_roles(const RolesForm& form = {});

}  // namespace calotype_test
