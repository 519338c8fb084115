#pragma once
// A pipeline as data: what the generator makes, the shrinker makes smaller and the corpus holds.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "calotype/pipeline.h"
#include "fuzz/node.h"

namespace calotype::fuzz {

struct InputSpec {
  std::string name;
  Type type;
  std::vector<Node> extents;  ///< of Dims and numbers
  std::int64_t low, high;     ///< its values
  bool whole = true;          ///< floats: whole numbers only
};

struct ParamSpec {
  std::string name;
  Type type;
  std::int64_t value;
};

struct RangeSpec {
  std::string name;
  Node min, extent;
};

/// The first definition of a Func, or an update.
struct DefinitionSpec {
  std::vector<Node> lhs;
  Node value;
  std::vector<RangeSpec> domain;
  Node where;  ///< undefined: none
};

struct FuncSpec {
  std::string name;
  std::vector<DefinitionSpec> stages;
  /// Not empty: a boundary condition ("repeat_edge", ...) on `source`, and no stages.
  std::string boundary, source;
  std::vector<Node> extents;  ///< of the source if that is a Func
  Node exterior;              ///< of constant_exterior
};

/// Whether a value is several: "(tuple a b)", read as "(f.0 x)" and "(f.1 x)".
bool is_tuple(const Node& value);
/// Whether a function computes a Func: "(function (g x) (g (+ x 1)) (g (+ x 2)))", the sum of what it reads
/// as s32. On hosts alone.
bool is_function(const Node& value);
/// How many values a Func has.
int components(const FuncSpec& func);

struct OutputSpec {
  std::string func;
  std::vector<Node> extents;
  bool whole = true;  ///< whole numbers on every way to it: results are equal in any order
};

using Sizes = std::map<std::string, std::int64_t>;

struct Program {
  std::vector<Sizes> runs;  ///< the sizes of each call
  std::vector<InputSpec> inputs;
  std::vector<ParamSpec> params;
  std::vector<FuncSpec> funcs;  ///< producers first
  std::vector<OutputSpec> outputs;
  std::uint64_t data_seed = 1;

  const FuncSpec* func(const std::string& name) const;
  const InputSpec* input(const std::string& name) const;
};

/// Errors as of calotype, or std::runtime_error for names that mean nothing.
Pipeline build(const Program& program);
/// A small program in C++ that builds the same.
std::string cpp(const Program& program);

Node to_node(const Program& program);
Program program_of(const Node& node);

/// A number or an expression of Dims.
std::int64_t number(const Node& node, const Sizes& sizes);
/// The Funcs and inputs that a tree calls.
std::vector<std::string> callees(const Node& node);
/// Every tree of a Func's definitions.
std::vector<Node*> nodes_of(FuncSpec& func);
std::vector<const Node*> nodes_of(const FuncSpec& func);
/// Leaves out what no output needs. A Dim that no input or output has as its extent becomes a number.
void prune(Program& program);

}  // namespace calotype::fuzz
