#pragma once
// A definition as a straight program over registers of lanes.

#include <array>
#include <string>
#include <vector>

#include "lang/evaluate_arguments.h"
#include "lang/graph.h"

namespace calotype::lang {

struct Instruction {
  enum class Kind {
    Coordinate,  ///< out = the loop's coordinate, for each lane
    Load,        ///< out = the source at the coordinates
    Apply,       ///< out = op(in...)
    Require,     ///< out = the second operand; the first must hold in every active lane
    Print,       ///< out = the first operand; where the second holds, a line of `text` and `printed`
    Accumulate,  ///< as Apply of Add to the point's old value; its error follows the sum of |terms|
  } kind;
  ir::Op op = ir::Op::Const;
  Type type, operand;
  int out = -1;
  std::array<int, 3> in{-1, -1, -1};
  int loop = -1;                  ///< Coordinate: Func args first, then reduction dimensions
  int source = -1;                ///< Load: index into Bytecode::sources
  std::vector<int> coordinates;   ///< Load: registers
  std::string text = {};          ///< Require: what must hold; Print: the line
  std::vector<int> printed = {};  ///< Print: registers
  std::string kinds = {};         ///< Print: how each is written, as for calotype_print
};

struct Bytecode {
  /// First what the predicate and the left side need, then the value, which only active lanes need.
  std::vector<Instruction> instructions;
  std::size_t head = 0;                              ///< number of instructions of the first part
  std::vector<std::pair<int, ir::Value>> constants;  ///< registers that keep a value
  std::vector<ir::CalleePtr> sources;
  int registers = 0;
  int predicate = -1;       ///< register, or -1: every lane is active
  std::vector<int> lhs;     ///< registers of the coordinates that are written
  std::vector<int> values;  ///< by component
};

/// Sizes and Params become constants.
Bytecode compile_stage(const FuncDef& func, int stage, const Constants& constants);

}  // namespace calotype::lang
