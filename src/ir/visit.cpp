// Walking and rewriting expressions. Nodes that several users share are walked once.

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/expr_node.h"

namespace calotype::ir {

namespace {

/// A node with one owner is reached once; only others need to be remembered. (Another thread that takes or
/// drops a reference meanwhile costs a repetition at most, of a pure function.)
bool may_be_shared(const Expr& e) { return e.node().use_count() > 1; }

class Rewriter {
 public:
  explicit Rewriter(const std::function<Expr(const Expr&)>& f) : f_(f) {}

  Expr operator()(const Expr& e) {
    if (!may_be_shared(e)) return rebuild(e);
    const auto found = done_.find(e.node().get());
    if (found != done_.end()) return found->second;
    Expr result = rebuild(e);
    done_.emplace(e.node().get(), result);
    return result;
  }

 private:
  Expr rebuild(const Expr& e) {
    if (e->args.empty()) return f_(e);
    std::vector<Expr> args;
    args.reserve(e->args.size());
    for (const Expr& arg : e->args) args.push_back((*this)(arg));
    return f_(with_args(e, std::move(args)));
  }

  const std::function<Expr(const Expr&)>& f_;
  std::unordered_map<const ExprNode*, Expr> done_;  // keyed by nodes that the root keeps alive
};

class Visitor {
 public:
  explicit Visitor(const std::function<void(const Expr&)>& f) : f_(f) {}

  void operator()(const Expr& e) {
    if (may_be_shared(e) && !seen_.insert(e.node().get()).second) return;
    for (const Expr& arg : e->args) (*this)(arg);
    f_(e);
  }

 private:
  const std::function<void(const Expr&)>& f_;
  std::unordered_set<const ExprNode*> seen_;
};

/// Whether a node satisfies the predicate; stops at the first.
class Search {
 public:
  explicit Search(const std::function<bool(const Expr&)>& f) : f_(f) {}

  bool operator()(const Expr& e) {
    if (may_be_shared(e) && !seen_.insert(e.node().get()).second) return false;
    return f_(e) ||
           std::any_of(e->args.begin(), e->args.end(), [this](const Expr& arg) { return (*this)(arg); });
  }

 private:
  const std::function<bool(const Expr&)>& f_;
  std::unordered_set<const ExprNode*> seen_;
};

}  // namespace

Expr with_args(const Expr& e, std::vector<Expr> args) {
  const bool same =
      args.size() == e->args.size() && std::equal(args.begin(), args.end(), e->args.begin(),
                                                  [](const Expr& a, const Expr& b) { return a.same_as(b); });
  return same ? e : make(e->op, e->type, std::move(args), e->attr);
}

Expr map_args(const Expr& e, const std::function<Expr(const Expr&)>& f) {
  if (e->args.empty()) return e;
  std::vector<Expr> args;
  args.reserve(e->args.size());
  for (const Expr& arg : e->args) args.push_back(f(arg));
  return with_args(e, std::move(args));
}

Expr rewrite(const Expr& e, const std::function<Expr(const Expr&)>& f) {
  if (!e.defined()) return e;
  // `f` may change the variable that `e` refers to.
  const Expr root = e;  // NOLINT(performance-unnecessary-copy-initialization)
  return Rewriter(f)(root);
}

void visit(const Expr& e, const std::function<void(const Expr&)>& f) {
  if (!e.defined()) return;
  const Expr root = e;  // NOLINT(performance-unnecessary-copy-initialization): as above
  Visitor visitor(f);
  visitor(root);
}

Expr substitute(const Expr& e, const Substitution& map) {
  if (map.empty()) return e;
  return rewrite(e, [&map](const Expr& node) {
    if (node->op != Op::Variable) return node;
    const SymbolPtr& symbol = symbol_of(node);
    for (const auto& [from, to] : map) {
      if (from == symbol) return to;
    }
    return node;
  });
}

bool any_of(const Expr& e, const std::function<bool(const Expr&)>& f) { return e.defined() && Search(f)(e); }

bool uses(const Expr& e, const SymbolPtr& symbol) {
  return any_of(e, [&](const Expr& node) { return node->op == Op::Variable && symbol_of(node) == symbol; });
}

std::vector<SymbolPtr> free_symbols(const Expr& e) {
  std::vector<SymbolPtr> used;
  std::unordered_set<const Symbol*> seen, bound;
  visit(e, [&](const Expr& node) {
    if (node->op == Op::Let) bound.insert(symbol_of(node).get());
    if (node->op == Op::Variable && seen.insert(symbol_of(node).get()).second)
      used.push_back(symbol_of(node));
  });
  std::erase_if(used, [&](const SymbolPtr& symbol) { return bound.contains(symbol.get()); });
  return used;
}

}  // namespace calotype::ir
