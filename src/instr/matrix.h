#pragma once
// Records of instructions that carry out tiles: products on tensor cores, and moves of tiles between shared
// memory and the registers of a warp.
//
// All of their layouts are splits of one thing, eight rows of 16 bytes: lane = 4 * (row & 7) + (word & 3),
// where a word has 4 bytes, and elements of a word stay side by side in a register (PTX ISA, "Matrix
// fragments for mma", "Asynchronous warpgroup level matrix", "ldmatrix"; compared with an H200).

#include "instr/instruction.h"
#include "instr/tensor_sum.h"

namespace calotype::instr {

/// The element type of an operand.
Type type_of(Number number);

/// What makes one product of a rule another instruction.
struct ProductForm {
  int n = 8;                    ///< columns of the result; of mma.sync 8
  bool a_in_registers = false;  ///< of wgmma; mma.sync always has it there
};
/// Columns that a product of the rule may have.
bool allows(const TensorRule& rule, int n);
/// d(n, m) += a(k, m) * b(k, n): mma.sync, 16 rows by one warp, or wgmma, 64 rows by four. Throws
/// Error(Internal) for columns that it does not have.
const Instruction& product(const TensorRule& rule, const ProductForm& form);

/// How a tile of 1, 2 or 4 times eight rows of 16 bytes moves.
struct MoveForm {
  int count = 4;            ///< of eight rows
  bool transposed = false;  ///< each eight rows change places with columns; elements of 2 bytes
  bool to_memory = false;   ///< stmatrix, of elements of 2 bytes; else ldmatrix
  int element_bytes = 2;    ///< 1, 2, 4
};
/// fragment(c, r) = row r's element c, or the other way round. Throws Error(Internal) for a form that there
/// is not.
const Instruction& move(const MoveForm& form);

}  // namespace calotype::instr
