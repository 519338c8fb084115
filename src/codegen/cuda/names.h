#pragma once
// Identifiers of a kernel: readable, legal, and unlike any other that is in scope.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/stmt.h"

namespace calotype::cuda {

/// Letters, digits and single underscores of a name; "A.in(acc)" is "A_in_acc".
std::string legal_name(const std::string& name);

class Names {
 public:
  /// A name for the symbol or buffer until the scope is closed.
  const std::string& declare(const ir::SymbolPtr& symbol) { return declare(symbol.get(), symbol->name); }
  const std::string& declare(const ir::BufferPtr& buffer) { return declare(buffer.get(), buffer->name); }
  const std::string& declare(const ir::RingPtr& ring) { return declare(ring.get(), ring->name); }
  const std::string& declare(const ir::TensorMapPtr& map) { return declare(map.get(), map->name); }
  /// A name for something that no symbol stands for.
  std::string fresh(const std::string& wanted);
  /// The symbol is written as this text (a lane of a vector, say) until the scope is closed.
  void write_as(const ir::SymbolPtr& symbol, std::string text);

  /// Error(Internal) if it is not in scope.
  const std::string& of(const ir::SymbolPtr& symbol) const { return find(symbol.get(), symbol->name); }
  const std::string& of(const ir::BufferPtr& buffer) const { return find(buffer.get(), buffer->name); }
  const std::string& of(const ir::TensorMapPtr& map) const { return find(map.get(), map->name); }

  void open() { scopes_.emplace_back(); }
  void close();

 private:
  const std::string& declare(const void* thing, const std::string& wanted);
  const std::string& find(const void* thing, const std::string& name) const;

  struct Scope {
    std::vector<std::string> names;
    std::vector<const void*> things;
  };
  std::vector<Scope> scopes_{1};
  std::set<std::string> taken_;
  std::map<const void*, std::string> names_;  // looked up, never walked
};

/// A scope as long as the object lives.
class NameScope {
 public:
  explicit NameScope(Names& names) : names_(names) { names_.open(); }
  ~NameScope() { names_.close(); }
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

 private:
  Names& names_;
};

}  // namespace calotype::cuda
