// What multicast asks of a Func: every block of the cluster comes to the same copies, so that each may count
// on what the others send.
#include "lower/multicast.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"

namespace calotype::lower {
namespace {

/// Whether the value changes with a variable, maybe by names that stand for others.
bool depends_on(const LoopTree& tree, const Expr& e, const ir::SymbolPtr& variable) {
  const std::vector<ir::SymbolPtr> symbols = ir::free_symbols(e);
  return std::any_of(symbols.begin(), symbols.end(), [&](const ir::SymbolPtr& s) {
    if (s == variable) return true;
    const ir::Facts::Known* known = tree.facts.find(s);
    return s->kind == ir::SymbolKind::Let && known && known->value.defined() &&
           depends_on(tree, known->value, variable);
  });
}

}  // namespace

bool is_multicast(const LoopTree& tree, FuncId func) {
  return tree.scheduled.of(func).stages.front().multicast.has_value();
}

std::optional<LoopId> cluster_around(const LoopTree& tree, FuncId func) {
  for (const LoopId id : site_loops(tree, tree.scheduled.of(func).compute))
    if (tree.loop(id).binding == ir::Binding::GpuCluster) return id;
  return std::nullopt;
}

void require_common(const LoopTree& tree, FuncId func) {
  const std::string& name = tree.func(func).name;
  const std::optional<LoopId> cluster = cluster_around(tree, func);
  if (!cluster)
    refuse_multicast(tree, func, fmt::format("'{}' is copied in no cluster of blocks", name), name,
                     "a cluster loop inside the block loops around it");
  const LoopInfo& rank = tree.loop(*cluster);
  const Box& box = tree.storage.at(func).box;
  for (std::size_t d = 0; d < box.size(); ++d)
    if (depends_on(tree, box[d].min, rank.var) || depends_on(tree, box[d].max, rank.var))
      refuse_multicast(tree, func,
                       fmt::format("along '{}' the blocks of the cluster need different parts of '{}'",
                                   tree.func(func).args[d]->name, name),
                       rank.name, fmt::format("no multicast on '{}'; or a cluster along another loop", name));
  for (const LoopId id : site_loops(tree, tree.scheduled.of(func).compute)) {
    if (id == *cluster) return;
    const LoopInfo& loop = tree.loop(id);
    if (depends_on(tree, loop.min, rank.var) || depends_on(tree, loop.extent, rank.var))
      refuse_multicast(tree, func,
                       fmt::format("the blocks of the cluster have different iterations of '{}'", loop.name),
                       loop.name, "loops around it that all blocks have alike");
  }
}

std::int64_t stored_bytes(const LoopTree& tree, FuncId func) {
  const Storage& storage = tree.storage.at(func);
  const ir::Buffer& b = *storage.buffers.front();
  std::int64_t bytes = b.type.bytes();
  for (const Expr& extent : b.extents) bytes *= *ir::as_int(extent);
  return bytes / storage.copies;
}

void refuse_multicast(const LoopTree& tree, FuncId func, std::string message, std::string value,
                      std::string legal) {
  throw Error({.kind = ErrorKind::Schedule,
               .message = std::move(message),
               .func = tree.func(func).name,
               .directive = tree.scheduled.of(func).stages.front().multicast->origin,
               .value = std::move(value),
               .legal = std::move(legal)});
}

}  // namespace calotype::lower
