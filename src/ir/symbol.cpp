// Creation of symbols and buffers, and the names of memory spaces and loop bindings.

#include "ir/symbol.h"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace calotype::ir {

namespace {

std::uint64_t next_unique() {
  static std::atomic<std::uint64_t> counter{0};
  return ++counter;
}

}  // namespace

SymbolPtr make_symbol(SymbolKind kind, std::string name, Type type) {
  return std::make_shared<const Symbol>(Symbol{kind, std::move(name), type, next_unique()});
}

SymbolPtr var_symbol(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, SymbolPtr> interned;
  const std::lock_guard lock(mutex);
  SymbolPtr& symbol = interned[name];
  if (!symbol) symbol = make_symbol(SymbolKind::Var, name);
  return symbol;
}

BufferPtr make_buffer(Buffer description) {
  description.unique = next_unique();
  return std::make_shared<const Buffer>(std::move(description));
}

const char* to_string(MemorySpace space) {
  switch (space) {
    case MemorySpace::Argument:
      return "argument";
    case MemorySpace::Heap:
      return "heap";
    case MemorySpace::Stack:
      return "stack";
    case MemorySpace::Global:
      return "global";
    case MemorySpace::Shared:
      return "shared";
    case MemorySpace::Local:
      return "local";
    case MemorySpace::Register:
      return "register";
  }
  return "?";
}

const char* to_string(Binding binding) {
  switch (binding) {
    case Binding::Serial:
      return "serial";
    case Binding::Unrolled:
      return "unrolled";
    case Binding::Vector:
      return "vector";
    case Binding::Parallel:
      return "parallel";
    case Binding::GpuBlock:
      return "gpu_block";
    case Binding::GpuThread:
      return "gpu_thread";
    case Binding::GpuCluster:
      return "gpu_cluster";
  }
  return "?";
}

}  // namespace calotype::ir
