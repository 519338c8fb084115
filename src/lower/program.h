#pragma once
// The product of lowering: functions and kernels (level `lowered`) and the plan that calls them. Code
// generators, the simulator and the runtime start from here.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "calotype/target.h"
#include "ir/stmt.h"

namespace calotype::lower {

/// A host function or a GPU kernel. The body refers freely to `scalars`, `buffers` (flat: one index in
/// elements), and for kernels to `block_vars` and `thread_vars`.
struct Function {
  std::string name;
  bool gpu = false;
  ir::Stmt body;
  /// Pointer arguments in order: each Argument buffer points at its element of smallest coordinates;
  /// workspace buffers at element 0. Allocations inside the body (Heap, Stack, Shared, Local, Register) are
  /// not listed.
  std::vector<ir::BufferPtr> buffers;
  /// Scalar arguments in order: named sizes, strides, mins, Params and values that the plan computes.
  std::vector<ir::SymbolPtr> scalars;
  /// Of each scalar: a number that divides it; 1: none is known.
  std::vector<std::int64_t> multiples;

  // Kernels only
  std::array<Expr, 3> grid, block;            ///< extents in terms of `scalars`
  std::array<ir::SymbolPtr, 3> block_vars{};  ///< null where the axis is not used
  std::array<ir::SymbolPtr, 3> thread_vars{};
  /// The grid's blocks along x are as many as run at one time, but no more than grid[0]; null: just those.
  /// The value of the symbol is how many they are.
  ir::SymbolPtr resident_blocks;
  std::int64_t max_threads = 0;    ///< constant upper bound of the block's size
  std::int64_t cluster = 1;        ///< blocks along x that make a cluster
  std::int64_t shared_bytes = 0;   ///< of the Shared allocations and rings, as laid out by the memory pass
  std::vector<ir::RingPtr> rings;  ///< barriers that are ready as the kernel begins
  /// What boxes are copied of, each once: arguments too, behind the buffers. Extents and strides of the
  /// sources are in terms of the plan's scalars.
  std::vector<ir::TensorMapPtr> tensors;
};

/// How the plan finds the value of a scalar.
struct ScalarSource {
  enum class Kind { Extent, Stride, Min, Param, Value, Present } kind;
  int argument = 0;  ///< position among the arguments of a call (inputs and Params as listed, then outputs)
  int dim = 0;
  Expr value;  ///< Value: in terms of scalars defined earlier. Present: whether kept values are there
};
struct Scalar {
  ir::SymbolPtr symbol;
  ScalarSource source;
};

/// A condition on the arguments with the message of its failure and what would be legal: these have one {}
/// for each value, the message's first.
struct PlanCheck {
  Expr condition;
  std::string message;
  std::string func;  ///< the input, output or Func concerned
  std::vector<Expr> values;
  std::string legal = {};
};

/// Memory of the plan: stages that live across kernels and functions.
struct Workspace {
  ir::BufferPtr buffer;
  Expr bytes;
};

/// Workspace whose values stay for calls with the same key.
struct KeptValues {
  std::string func;
  ir::SymbolPtr present;       ///< the scalar that says whether they are there
  std::size_t first = 0;       ///< of Program::workspace
  std::size_t components = 0;  ///< how many, from there on
  std::vector<Expr> key;
};

struct PlanStep {
  int function = 0;  ///< index into Program::functions: a call, or a launch if it is a kernel
};

/// One argument of the call as the plan checks it.
struct Argument {
  std::string name;
  bool is_param = false;
  bool is_output = false;
  Type type;
  int rank = 0;
  bool keeps = false;            ///< of an output: elements that the program does not write stay as they were
  int shared_with = -1;          ///< of an output: the input that may be the same memory
  std::int64_t base_align = 1;   ///< bytes that divide the address of a buffer's first element
  std::string base_origin = {};  ///< the directive that says so
  std::optional<double> low, high;  ///< of a Param: where its values lie
};

struct Program {
  std::string name;
  Target target;
  std::vector<Argument> arguments;
  std::vector<Scalar> scalars;    ///< evaluated in order at each call
  std::vector<PlanCheck> checks;  ///< in order; all pass before anything is written
  std::size_t shape_checks = 0;   ///< how many of them, from the first, are on the arguments' shapes alone
  std::vector<Workspace> workspace;
  std::vector<KeptValues> kept;
  std::vector<Function> functions;
  std::vector<PlanStep> steps;
};

std::string to_string(const Function& function);
/// Level `plan`: arguments, scalars, checks, workspace, steps.
std::string plan_text(const Program& program);

}  // namespace calotype::lower
