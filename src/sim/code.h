#pragma once
// The simulator's code: a flat list of instructions over registers, made from a lowered kernel.
//
// A register holds its value for the 32 lanes of a warp, or once if it is uniform (equal in all lanes that
// may use it). Vectors of the program are components in a row, each of 32 lanes. Control stays structured:
// If, Else, End and loops keep a stack of lane masks. A new instruction is a handler and whatever it needs to
// know beside its operands.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "instr/instruction.h"
#include "ir/stmt.h"
#include "sim/cell.h"

namespace calotype::sim {

/// Where a value lives: `at` counts cells of the warp's registers; a negative one is constant ~at.
struct Register {
  int at = 0;
  int components = 1;
  bool uniform = false;

  int stride() const { return uniform ? 1 : kWarp; }  ///< cells from one component to the next
  int cells() const { return components * stride(); }
  Register component(int k) const { return {at >= 0 ? at + k * stride() : at - k * stride(), 1, uniform}; }
};

/// What an arithmetic instruction computes.
struct Operation {
  ir::Op op;
  Type type;                     ///< of the result, one lane
  std::array<Type, 3> operands;  ///< one lane each
  int arity = 0;
  int period = 1;  ///< Ramp and Broadcast: cells after which the operands repeat
};

/// Computes `n` cells; every operation is defined for any operands, so lanes that are off are computed too.
using Compute = void (*)(const Operation&, Cell* result, const Cell* a, const Cell* b, const Cell* c, int n);

struct Machine;
struct Warp;
struct Instruction;
using Handler = void (*)(Machine&, Warp&, const Instruction&);

/// What code stands in: the production of a stage, or a loop.
struct Scope {
  int outer = -1;      ///< into Code::scopes; -1: the kernel
  std::string stage;   ///< of a production, and of a loop that says so: the Func
  std::string origin;  ///< the directive that has made it
  std::string loop;    ///< the variable's name; empty: no loop
  Register variable = {};
};

struct Instruction {
  Handler run;
  const char* name;           ///< for counters
  Register result, a, b, c;   ///< the handler says what they are
  Compute compute = nullptr;  ///< arithmetic only
  int site = 0;               ///< into the table of the handler: operations, accesses, checks ...
  int target = 0;             ///< of a jump
  int scope = -1;             ///< into Code::scopes
};

/// A buffer of the program: an argument, or an allocation of constant size.
struct BufferUse {
  std::string name;
  Type type;  ///< of an element
  ir::MemorySpace space;
  std::int64_t elements = 0;  ///< of an allocation
  std::int64_t offset = 0;    ///< Shared: bytes
  int slot = 0;  ///< Argument and Global: position in the launch; Local and Register: number in the thread
  bool written = false;      ///< there is a store to it
  bool idempotent = false;   ///< several threads may write an element, all of them the same value
  std::int64_t swizzle = 0;  ///< Shared: bytes of the rows of layout/swizzle.h, 0: none
  std::string stage = {};    ///< of an allocation: whose code writes it first
  bool is_private() const { return space == ir::MemorySpace::Local || space == ir::MemorySpace::Register; }
  bool is_shared() const { return space == ir::MemorySpace::Shared; }
};

struct AccessSite {
  int buffer = 0;    ///< into Code::buffers
  std::string text;  ///< "tile[y*33 + x]"
  bool predicated = false;
  int operation = -1;    ///< of an atomic update: into Code::operations
  int ring = -1;         ///< of an element of a bulk copy: into Code::rings
  bool in_bulk = false;  ///< of a load: what it reads goes in bulk, past the threads
};

/// A copy of a box: how its elements are accessed, and where it begins in the tensor.
struct BoxSite {
  int access = 0;                     ///< into Code::accesses
  int tensor = 0;                     ///< into Code::tensors
  int memory = 0;                     ///< of the tensor: into Code::accesses
  std::optional<Register> receivers;  ///< bits of the ranks of the blocks that it goes to; none: the own
  std::vector<Register> start;
};

/// An operand of an instruction of tiles.
struct TileOperand {
  int access = 0;  ///< into Code::accesses
  Register first;  ///< the element where it begins
  ir::OperandUse use;
  instr::Operand::Place place = instr::Operand::Place::Elements;
  /// Coordinates of what a thread has in a register: by thread, then register. Of rows: none.
  std::vector<std::array<std::int32_t, 2>> coordinates;
  int registers = 0;
};
struct TileSite {
  const instr::Instruction* record = nullptr;
  std::vector<TileOperand> operands;
};

/// The text of a check, or of a line that is printed.
struct CheckSite {
  std::string text;  ///< one {} a value
  std::vector<Register> values;
  std::vector<Type> types;
};

struct BarrierSite {
  std::string reason;
};

struct Code {
  std::string name;
  std::vector<Instruction> instructions;
  std::vector<Scope> scopes;
  std::vector<Cell> constants;
  int registers = 0;  ///< cells a warp
  std::vector<Operation> operations;
  std::vector<AccessSite> accesses;
  std::vector<BoxSite> boxes;
  std::vector<TileSite> tiles;
  std::vector<ir::TensorMapPtr> tensors;
  std::vector<CheckSite> checks;
  std::vector<BarrierSite> barriers;
  std::vector<BufferUse> buffers;  ///< the function's arguments first, then its tensors
  int arguments = 0;               ///< how many of them
  int privates = 0;                ///< Local and Register allocations
  std::vector<std::pair<Register, Type>> scalars;
  std::array<Register, 3> block_vars, thread_vars;
  std::array<bool, 3> has_block_var{}, has_thread_var{};
  Register grid_var{};  ///< how many blocks there are along x
  bool has_grid_var = false;
  std::int64_t max_threads = 0, shared_bytes = 0, cluster = 1;
  bool partly = false;  ///< warps wait for each other in part, or tensor cores read memory meanwhile
  std::vector<ir::RingPtr> rings;
  std::vector<Register> ring_turns;  ///< of rings that turn

  /// The stage that a scope stands in, and the directive that placed it there, else that of its innermost
  /// loop.
  std::string stage_of(int scope) const;
  std::string origin_of(int scope) const;
};

}  // namespace calotype::sim
