#pragma once
// Equal expressions as one node, so that walks which remember nodes take the time of what is distinct.

#include <unordered_map>
#include <vector>

#include "ir/expr_node.h"

namespace calotype::ir {

/// The nodes that are known, each the only one of its structure.
class SharedNodes {
 public:
  /// The equal expression made of nodes of the table alone; those that are new are taken in.
  Expr operator()(const Expr& e);

 private:
  Expr known(const Expr& e);

  std::unordered_map<std::uint64_t, std::vector<Expr>> nodes_;  ///< by hash
  std::unordered_map<const ExprNode*, Expr> done_;              ///< of nodes that the table does not own too
  std::vector<Expr> kept_;  ///< these, so that their addresses stay theirs
};

/// How many operations there are in an expression, those of one node counted once.
std::size_t distinct_operations(const Expr& e);

/// The values that several nodes of an expression use, each with a symbol, operands first, and the expression
/// itself as the last (with a null symbol): with these symbols for what stands before.
std::vector<std::pair<SymbolPtr, Expr>> named_parts(const Expr& e);

}  // namespace calotype::ir
