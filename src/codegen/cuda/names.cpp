// Identifiers and their scopes.

#include "codegen/cuda/names.h"

#include <fmt/format.h>

#include <cctype>

#include "calotype/error.h"
#include "codegen/cuda/prelude.h"

namespace calotype::cuda {

std::string legal_name(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) result += c;
    if (!plain && !result.empty() && result.back() != '_') result += '_';
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result.front())) != 0) result = "v" + result;
  return result;
}

std::string Names::fresh(const std::string& wanted) {
  const std::string base = legal_name(wanted);
  std::string name = base;
  for (int i = 1; taken_.contains(name) || is_reserved(name); ++i) name = fmt::format("{}_{}", base, i);
  taken_.insert(name);
  scopes_.back().names.push_back(name);
  return name;
}

const std::string& Names::declare(const void* thing, const std::string& wanted) {
  scopes_.back().things.push_back(thing);
  return names_[thing] = fresh(wanted);
}

void Names::write_as(const ir::SymbolPtr& symbol, std::string text) {
  scopes_.back().things.push_back(symbol.get());
  names_[symbol.get()] = std::move(text);
}

const std::string& Names::find(const void* thing, const std::string& name) const {
  const auto it = names_.find(thing);
  if (it != names_.end()) return it->second;
  throw Error({.kind = ErrorKind::Internal,
               .message = "a kernel uses a name that nothing in scope declares",
               .value = name});
}

void Names::close() {
  for (const std::string& name : scopes_.back().names) taken_.erase(name);
  for (const void* thing : scopes_.back().things) names_.erase(thing);
  scopes_.pop_back();
}

}  // namespace calotype::cuda
