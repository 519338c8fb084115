#pragma once
// The function in CUDA C that an instruction of tiles is called by.

#include <string>

#include "instr/instruction.h"
#include "ir/stmt.h"

namespace calotype::cuda {

/// Bytes of a register.
inline constexpr int kWordBytes = 4;

/// A function for one record, for the arrays that its operands in registers have: they are given by the
/// address of the first word, matrices in shared memory by a description, rows by their address.
struct TileHelper {
  std::string name, text;  ///< as in the prelude
};
TileHelper tile_helper(const ir::InstructionUse& use);

/// The type in C of the words of a thread's array that an instruction uses: its elements of 4 bytes, or
/// words of smaller ones.
std::string word_type(Type element);
/// Words of each lane in an operand in registers.
int words_of(const instr::Operand& operand, Type element);

}  // namespace calotype::cuda
