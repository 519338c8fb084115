#pragma once
// The operations of random programs: their name in trees, how they are built and how C++ spells them.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calotype/expr.h"
#include "fuzz/node.h"

namespace calotype::fuzz {

enum class Spelling { Infix, Prefix, Call };

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

/// "(cast TYPE e)", "(const TYPE number)", operations, calls, names and whole numbers. std::runtime_error for
/// names that mean nothing; Error(Algorithm) as of calotype.
Expr build(const Node& node, const Scope& scope);
/// The same as text of C++.
std::string cpp(const Node& node);

}  // namespace calotype::fuzz
