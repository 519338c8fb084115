#pragma once
// The algorithm as a closed, typed, immutable DAG: what schedules and lowering start from (level
// `algorithm`).
//
// Ids are dense: FuncId indexes Graph::funcs, which is in topological order, producers first. Every Call
// inside refers to a Callee of this Graph (Callee::index is the FuncId or InputId).

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calotype/buffer.h"
#include "calotype/error.h"
#include "ir/expr_node.h"

namespace calotype::lang {

/// A typed index. FuncId and InputId do not convert into each other.
template <class Tag>
struct Id {
  int value = -1;
  bool valid() const { return value >= 0; }
  auto operator<=>(const Id&) const = default;
};
using FuncId = Id<struct FuncTag>;
using InputId = Id<struct InputTag>;

/// One loop dimension of a reduction domain.
struct ReductionDim {
  ir::SymbolPtr symbol;  ///< SymbolKind::RVar
  std::string name;      ///< as schedules name the loop
  Expr min, extent;
};

/// A definition of a Func. Stage 0 is the pure (or implicit initial) one, stage i + 1 is update i.
struct StageDef {
  /// Left-hand side coordinates. In stage 0: the Func's args. In updates: any expression; a coordinate that
  /// is just a Func arg symbol is a pure dimension of the update.
  std::vector<Expr> lhs;
  Expr value;
  std::vector<ReductionDim> reduction;  ///< dimension 0 innermost
  Expr predicate;                       ///< from RDom::where; undefined: always
  /// For an update that is `f(lhs) = f(lhs) op term`: op (Add, Mul, Min, Max, a bit or logic operation) and
  /// term. Recognised when the Graph is made; what rfactor and atomic look at.
  std::optional<ir::Op> reduce_op;
  Expr reduce_term;

  /// One value for each component of the Func. A component that an update leaves as it is has as value its
  /// own read at the coordinates written.
  std::vector<Expr> values() const;
  /// What computes the Func's values, if that is a function: `value` is then an Extern, for all components,
  /// and `reduction` is what its reads range over. Null: the definition is an expression.
  const ir::Extern* function() const;
  /// Of a definition by a function: what is read, and what is passed on.
  std::vector<Expr> reads() const;
  std::vector<Expr> scalars() const;
};

struct FuncDef {
  FuncId id;
  std::string name;
  std::vector<Type> types;          ///< of the components: one, or several for a Func whose values are Tuples
  std::vector<ir::SymbolPtr> args;  ///< SymbolKind::Var, dimension 0 first
  std::vector<StageDef> stages;
  std::vector<ir::CalleePtr> callees;  ///< by component: what Calls of this Func carry
  int rank() const { return static_cast<int>(args.size()); }
  int components() const { return static_cast<int>(types.size()); }
  bool is_tuple() const { return types.size() > 1; }
  /// Of the first component.
  Type type() const { return types.front(); }
  const ir::CalleePtr& callee() const { return callees.front(); }
  bool any_float() const;
  /// Whether a function computes its values.
  bool is_extern() const { return stages.front().function() != nullptr; }
  /// "f32", or "(s64, f32)".
  std::string type_text() const;
  /// Whether an expression is a Call of this Func.
  bool is_read(const Expr& e) const;
  /// The Func's value at coordinates, as a definition: a Call, or a Tuple of Calls.
  Expr read(const std::vector<Expr>& coordinates) const;
  /// Makes the Callees, for the id that the Func has in its Graph.
  void make_callees(FuncId own);
};

struct InputDef {
  InputId id;
  std::string name;
  Type type;
  std::vector<Expr> extents;  ///< Dims, constants or expressions of Dims; coordinates start at 0
  ir::CalleePtr callee;
};

struct ParamDef {
  ir::SymbolPtr symbol;
  std::string name;
  Type type;
  std::optional<double> initial, low, high;
  /// " from 1 to 4", or "".
  std::string range_text() const;
};

/// An output buffer. A Func whose values are Tuples has one for each component, one after the other, all of
/// the same coordinates.
struct OutputDef {
  FuncId func;
  int component = 0;
  bool sized = false;         ///< extents fixed by the algorithm, coordinates from 0
  std::vector<Expr> extents;  ///< if not sized: Dims of their own
  /// If not sized: SymbolKind::MinCoord symbols for the first coordinate of each dimension; sized: zeros.
  std::vector<Expr> mins;
};

struct Graph {
  std::string name;
  std::vector<FuncDef> funcs;  ///< producers before consumers
  std::vector<InputDef> inputs;
  std::vector<ParamDef> params;
  /// The order of arguments at a call, before the outputs: each an index into inputs or params.
  struct ArgumentRef {
    bool is_param = false;
    int index = 0;
  };
  std::vector<ArgumentRef> arguments;
  std::vector<OutputDef> outputs;
  /// An output and an input that may lie in the same memory.
  struct Alias {
    int output = 0;  ///< index into outputs
    InputId input;
  };
  std::vector<Alias> aliases;
  std::vector<ir::SymbolPtr> dims;  ///< every named size, in order of first use
  std::string fingerprint;          ///< "h1:" + 16 hex digits

  const FuncDef& func(FuncId id) const { return funcs[id.value]; }
  /// By name; nullptr if there is none.
  const FuncDef* find_func(const std::string& name) const;
  const InputDef* find_input(const std::string& name) const;
  /// The output that an input may share its memory with; nullptr if there is none.
  const OutputDef* alias_of(InputId id) const;
  bool is_output(FuncId id) const;
  /// Whether a function is given a box of the Func's memory, as its result or to read: then it lies there by
  /// strides.
  bool is_boxed(FuncId id) const;
  std::vector<std::string> func_names() const;
  /// What a name is; no two things of a Graph share one. Func for names that are none of the Graph's.
  Subject subject_of(const std::string& name) const;
  /// The Func's name; with ".0", ".1" and on for the components of a Tuple.
  std::string output_name(const OutputDef& output) const;
  Type output_type(const OutputDef& output) const { return func(output.func).types[output.component]; }
};

/// Every Func of the graph, those it reads before it.
std::vector<FuncId> producers_first(const Graph& graph);
/// Text of a stage's name: "acc" for stage 0, "acc.update(0)" for stage 1.
std::string stage_name(const FuncDef& func, int stage);
/// The definitions as text, producers first.
std::string to_string(const Graph& graph);
/// The fingerprint of DAG structure: types, ops, constants; names left out; functions and inputs numbered
/// depth first from the outputs, operands left to right.
std::string structure_hash(const Graph& graph);

/// Calls of `value` (and lhs, predicate) in the order of first use.
std::vector<ir::CalleePtr> callees(const StageDef& stage);

}  // namespace calotype::lang
