#pragma once
// Values that stand for symbols within a scope, for walks over statements that put them in place on their
// way: each expression is rewritten once, however many scopes it stands in.

#include <unordered_map>
#include <utility>

#include "ir/expr_node.h"

namespace calotype::lower {

class ScopedValues {
 public:
  /// For the life of the object `symbol` stands for `value`; with an undefined value for itself.
  class Entry {
   public:
    Entry(ScopedValues& scope, const ir::SymbolPtr& symbol, Expr value)
        : scope_(scope),
          symbol_(symbol.get()),
          before_(std::exchange(scope.values_[symbol_], std::move(value))) {}
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() {
      if (before_.defined())
        scope_.values_[symbol_] = std::move(before_);
      else
        scope_.values_.erase(symbol_);
    }

   private:
    ScopedValues& scope_;
    const ir::Symbol* symbol_;
    Expr before_;
  };

  /// The expression with the values in it. They are not looked at again: they were complete when they were
  /// given.
  Expr operator()(const Expr& e) const {
    if (values_.empty()) return e;
    return ir::rewrite(e, [this](const Expr& node) {
      if (node->op != ir::Op::Variable) return node;
      const auto found = values_.find(ir::symbol_of(node).get());
      return found == values_.end() || !found->second.defined() ? node : found->second;
    });
  }

 private:
  std::unordered_map<const ir::Symbol*, Expr> values_;
};

}  // namespace calotype::lower
