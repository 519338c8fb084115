#pragma once
// The operations of random programs: their name in trees, how they are built and how C++ spells them.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calotype/expr.h"
#include "fuzz/node.h"

namespace calotype::fuzz {

enum class Spelling {
  Infix,
  Prefix,
  Call,
  Listed,  ///< a call whose operands but the first stand in braces
};

struct Operation {
  std::string name;  ///< in trees
  std::size_t arity;
  Spelling spelling;
  std::string cpp;
  Expr (*build)(const std::vector<Expr>&);
};

/// nullptr if there is none of that name: the head is then a Func or an input.
const Operation* find_operation(const std::string& name);

/// What the names in an expression mean.
struct Scope {
  std::map<std::string, Expr> values;                                   ///< Vars, RVars, Dims, Params
  std::map<std::string, std::function<Expr(std::vector<Expr>)>> calls;  ///< Funcs and inputs
};

/// Conversions have a type in place of their first operand: "(cast TYPE e)", "(saturating_cast TYPE e)",
/// "(reinterpret TYPE e)", and "(const TYPE number)".
bool names_type(const std::string& head);
/// Whether a head is a Func or an input, or one value of a Func of several: "f.1".
bool is_call(const std::string& head);
/// The Func or input of a call: "f" of "f.1".
std::string called(const std::string& head);

/// Conversions, operations, calls, names and whole numbers. std::runtime_error for names that mean nothing;
/// Error(Algorithm) as of calotype.
Expr build(const Node& node, const Scope& scope);
/// The same as text of C++.
std::string cpp(const Node& node);

}  // namespace calotype::fuzz
