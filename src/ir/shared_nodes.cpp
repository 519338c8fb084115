// Equal expressions as one node.
#include "ir/shared_nodes.h"

#include <functional>
#include <string>

namespace calotype::ir {

Expr SharedNodes::operator()(const Expr& e) {
  if (!e.defined()) return e;
  if (const auto found = done_.find(e.node().get()); found != done_.end()) return found->second;
  const Expr result = known(map_args(e, [this](const Expr& arg) { return (*this)(arg); }));
  kept_.push_back(e);
  done_.emplace(e.node().get(), result);
  return result;
}

/// Operands are nodes of the table already, so that equality is decided by addresses.
Expr SharedNodes::known(const Expr& e) {
  std::vector<Expr>& alike = nodes_[e->hash];
  for (const Expr& other : alike)
    if (equal(other, e)) return other;
  alike.push_back(e);
  return e;
}

std::size_t distinct_operations(const Expr& e) {
  std::size_t count = 0;
  visit(e, [&](const Expr& n) { count += n->args.empty() ? 0 : 1; });
  return count;
}

std::vector<std::pair<SymbolPtr, Expr>> named_parts(const Expr& e) {
  std::unordered_map<const ExprNode*, int> uses;
  visit(e, [&](const Expr& n) {
    for (const Expr& arg : n->args) ++uses[arg.node().get()];
  });
  std::vector<std::pair<SymbolPtr, Expr>> parts;
  std::unordered_map<const ExprNode*, Expr> written;
  const std::function<Expr(const Expr&)> write = [&](const Expr& n) -> Expr {
    if (n->args.empty()) return n;
    if (const auto found = written.find(n.node().get()); found != written.end()) return found->second;
    Expr value = map_args(n, write);
    if (uses[n.node().get()] > 1) {
      parts.emplace_back(make_symbol(SymbolKind::Let, "v" + std::to_string(parts.size()), n->type), value);
      value = make_var(parts.back().first);
    }
    written.emplace(n.node().get(), value);
    return value;
  };
  const Expr whole = write(e);
  parts.emplace_back(nullptr, whole);
  return parts;
}

}  // namespace calotype::ir
