// Reads of registers of other threads: shuffles in front of a definition, or loads of shared memory.
//
// A shuffle takes the value of its operand in another lane: which slot it reads must be the same in all
// lanes. Where the slot differs between them, each that is possible is shuffled and the right one chosen.
// Lanes that need nothing ask for lane -1; code for a machine has whatever lane instead.
#include "lower/converted_reads.h"

#include "lower/convert_layouts.h"
#include "lower/store_values.h"

namespace calotype::lower {
namespace {

/// The index of an element among those in shared memory.
Expr published_index(const LoopTree& tree, FuncId func, const std::vector<Expr>& coordinates) {
  const Storage& storage = tree.storage.at(func);
  const std::vector<Expr> local = within_storage(storage, coordinates, tree.facts);
  Expr index = ir::index(0);
  for (std::size_t d = 0; d < local.size(); ++d)
    index = index + local[d] * storage.published.front()->strides[d];
  return ir::simplify(index, tree.facts);
}

/// A slot that there is, whatever the loops' variables are.
Expr existing(const Expr& slot, std::int64_t slots, const ir::Facts& facts) {
  Expr e = slot;
  if (!ir::prove(e < ir::index(slots), facts)) e = min(e, ir::index(slots - 1));
  if (!ir::prove(slot >= ir::index(0), facts)) e = max(e, ir::index(0));
  return ir::simplify(e, facts);
}

}  // namespace

Expr ConvertedReads::read(const Expr& call) {
  const ir::Callee& callee = *ir::callee_of(call);
  const FuncId func{callee.index};
  const Storage& storage = tree_.storage.at(func);
  const auto component = static_cast<std::size_t>(callee.component);
  const Held held = holders_.of(func, call->args);
  if (held.own) return loaded(call->type, storage.buffers[component], held.slot);
  if (tree_.conversion(reader_, func) == Conversion::Shared)
    return loaded(call->type, storage.published[component], published_index(tree_, func, call->args));
  const Expr value = shuffled(held, storage, storage.buffers[component]);
  return value->type == call->type ? value : ir::make(ir::Op::Bitcast, call->type, {value});
}

Expr ConvertedReads::shuffled(const Held& held, const Storage& storage, const ir::BufferPtr& buffer) {
  const std::int64_t count = storage.layout->size(layout::Axis::Register);
  const std::vector<Expr> slots = holders_.slots_of(held.slot, kMostShuffles);
  Expr value;
  for (const Expr& slot : slots) {
    const Expr here = ir::simplify(held.slot == slot, holders_.facts());
    const Expr one = shuffle(buffer, slot, count, held.lane, here);
    value = value.defined() ? select(here, one, value) : one;
  }
  return value;
}

Expr ConvertedReads::shuffle(const ir::BufferPtr& buffer, const Expr& slot, std::int64_t slots,
                             const Expr& lane, const Expr& when) {
  const Expr needed = ir::simplify(holders_.needed() && when, tree_.facts);
  const Expr own = ir::make(ir::Op::Load, buffer->type, {existing(slot, slots, tree_.facts)}, buffer);
  const Expr from = ir::is_one(needed) ? lane : select(needed, lane, ir::index(-1));
  const Expr value = ir::make(ir::Op::Shuffle, buffer->type, {own, from});
  for (const auto& [symbol, known] : shuffles_)
    if (ir::equal(known, value)) return ir::make_var(symbol);
  shuffles_.emplace_back(ir::make_symbol(ir::SymbolKind::Let, buffer->name + ".other", buffer->type), value);
  return ir::make_var(shuffles_.back().first);
}

ir::Stmt ConvertedReads::around(ir::Stmt s) const {
  for (auto let = shuffles_.rbegin(); let != shuffles_.rend(); ++let)
    s = ir::let_stmt(let->first, let->second, s);
  return holders_.bound(std::move(s));
}

ir::Stmt publish_element(const LoopTree& tree, FuncId func, const std::vector<Expr>& coordinates,
                         const std::vector<Expr>& indices) {
  const Storage& storage = tree.storage.at(func);
  const Expr index = published_index(tree, func, coordinates);
  std::vector<ir::Stmt> stores;
  for (std::size_t c = 0; c < indices.size(); ++c) {
    const ir::BufferPtr& from = storage.buffers[c];
    stores.push_back(
        ir::store(storage.published[c], ir::make(ir::Op::Load, from->type, {indices[c]}, from), {index}));
  }
  return ir::block(std::move(stores));
}

bool publishes(const Node& nest) {
  return nest.kind == NodeKind::Publish ||
         (nest.kind == NodeKind::Loop && nest.children.size() == 1 && publishes(nest.children.front()));
}

}  // namespace calotype::lower
