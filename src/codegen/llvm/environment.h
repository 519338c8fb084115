#pragma once
// What names stand for at one point of an emitted function.

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Metadata.h>

#include <unordered_map>

#include "ir/questions.h"
#include "ir/stmt.h"

namespace calotype::llvm_backend {

/// Memory: a pointer to element 0, and what may be assumed about accesses through it. No two buffers overlap.
struct BufferRef {
  llvm::Value* pointer = nullptr;
  llvm::MDNode* scope = nullptr;     ///< !alias.scope: this buffer
  llvm::MDNode* disjoint = nullptr;  ///< !noalias: every other one
};

/// Only ever looked up, never iterated: the order of the maps reaches no output.
struct Environment {
  std::unordered_map<const ir::Symbol*, llvm::Value*> symbols;
  /// Vectors bound by Let, so that address patterns can be seen through the name. Only those computed without
  /// memory, which are the same wherever they are evaluated.
  std::unordered_map<const ir::Symbol*, Expr> vector_lets;
  std::unordered_map<const ir::Buffer*, BufferRef> buffers;
  /// Of scalar arguments: what divides them, where that is known.
  std::unordered_map<const ir::Symbol*, std::int64_t> multiples;
  bool streams = false;  ///< the function has stores that pass the caches by
};

/// A symbol's value within a scope; what it stood for outside returns at the end.
class Bound {
 public:
  Bound(Environment& environment, const ir::SymbolPtr& symbol, llvm::Value* value,
        const Expr& definition = {})
      : environment_(environment), symbol_(symbol.get()) {
    auto outer = environment_.symbols.find(symbol_);
    if (outer != environment_.symbols.end()) {
      hidden_ = outer->second;
      hidden_lets_ = environment_.vector_lets;
      environment_.vector_lets.clear();  // a definition may name the symbol in its outer meaning
    }
    environment_.symbols[symbol_] = value;
    if (definition.defined() && definition->type.lanes > 1 && !ir::reads_memory(definition)) {
      environment_.vector_lets[symbol_] = definition;
    }
  }
  ~Bound() {
    environment_.vector_lets.erase(symbol_);
    environment_.symbols.erase(symbol_);
    if (hidden_) {
      environment_.symbols[symbol_] = hidden_;
      environment_.vector_lets = std::move(hidden_lets_);
    }
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  /// Whether the symbol had another value outside.
  bool shadows() const { return hidden_ != nullptr; }

 private:
  Environment& environment_;
  const ir::Symbol* symbol_;
  llvm::Value* hidden_ = nullptr;
  std::unordered_map<const ir::Symbol*, Expr> hidden_lets_;
};

}  // namespace calotype::llvm_backend
