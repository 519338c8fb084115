// The stores of one evaluation of a definition.
#include "lower/store_values.h"

#include <algorithm>

#include "lower/addresses.h"
#include "schedule/scan.h"

namespace calotype::lower {

static bool reads_any(const Expr& e, const std::vector<ir::BufferPtr>& buffers) {
  return ir::any_of(e, [&](const Expr& n) {
    return (ir::is(n, ir::Op::Load) || ir::is(n, ir::Op::LoadIf)) &&
           std::find(buffers.begin(), buffers.end(), ir::buffer_of(n)) != buffers.end();
  });
}

ir::Stmt store_values(const std::vector<ir::BufferPtr>& buffers, const std::vector<Expr>& values,
                      const std::vector<Expr>& indices, bool all) {
  std::vector<ir::Stmt> stores;
  std::vector<std::pair<ir::SymbolPtr, Expr>> named;
  std::vector<ir::BufferPtr> written;
  for (std::size_t c = 0; c < buffers.size(); ++c) {
    const bool loaded = ir::is(values[c], ir::Op::Load) || ir::is(values[c], ir::Op::LoadIf);
    const bool kept = !all && buffers.size() > 1 && loaded && ir::buffer_of(values[c]) == buffers[c] &&
                      ir::equal(values[c]->args.back(), indices[c]);
    if (kept) continue;
    Expr value = values[c];
    if (reads_any(value, written)) {
      named.emplace_back(ir::make_symbol(ir::SymbolKind::Let, buffers[c]->name + ".next", value.type()),
                         value);
      value = ir::make_var(named.back().first);
    }
    stores.push_back(ir::store(buffers[c], value, {indices[c]}));
    written.push_back(buffers[c]);
  }
  ir::Stmt s = stores.size() == 1 ? stores.front() : ir::block(std::move(stores));
  for (auto let = named.rbegin(); let != named.rend(); ++let) s = ir::let_stmt(let->first, let->second, s);
  return s;
}

ir::BufferPtr first_stored(const ir::Stmt& stores) {
  ir::BufferPtr first;
  ir::visit(stores, [&](const ir::Stmt& s) {
    if (s->kind == ir::StmtKind::Store && !first) first = s->buffer();
  });
  return first;
}

ir::Stmt with_slots_moved(const ir::Stmt& stores, const Slots& slots, const ir::Facts& facts) {
  if (slots.count == 1) return stores;
  return ir::rewrite(stores, [&](const ir::Stmt& s) {
    if (s->kind != ir::StmtKind::Store) return s;
    const ir::BufferPtr& b = s->buffer();
    const auto slot = [&](std::int64_t i) { return s->exprs[2] + ir::index(i) * slots.stride; };
    const ir::SymbolPtr next = ir::make_symbol(ir::SymbolKind::Let, b->name + ".next", s->exprs[0]->type);
    std::vector<ir::Stmt> moves;
    for (std::int64_t i = slots.count - 1; i > 0; --i) {
      const Expr there = ir::simplify(ir::index(i) <= slots.available, facts);
      const ir::Stmt move = ir::store(b, ir::make(ir::Op::Load, b->type, {slot(i - 1)}, b), {slot(i)});
      moves.push_back(ir::is_one(there) ? move : ir::if_then(there, move));
    }
    moves.push_back(ir::store(b, ir::make_var(next), {s->exprs[2]}));
    return ir::let_stmt(next, s->exprs[0], ir::block(std::move(moves)));
  });
}

const Storage* moving_slots(const LoopTree& tree, StageRef ref) {
  const auto at = tree.storage.find(ref.func);
  if (at == tree.storage.end() || !at->second.scan || !at->second.scan->shifts) return nullptr;
  return ref == at->second.scan->writer ? &at->second : nullptr;
}

Expr is_stored(const LoopTree& tree, FuncId func, const ir::Buffer& buffer,
               const std::vector<Expr>& coordinates) {
  const auto storage = tree.storage.find(func);
  return is_inside(coordinates, storage == tree.storage.end() ? box_of(buffer) : storage->second.box);
}

bool is_final(const LoopTree& tree, StageRef ref) {
  return tree.stored_of.count(ref.func) &&
         (ref.stage + 1 == static_cast<int>(tree.func(ref.func).stages.size()) ||
          schedule::folded_scan(tree.scheduled, ref.func));
}

Expr loaded(Type type, const ir::BufferPtr& buffer, const Expr& index) {
  const Expr load = ir::make(ir::Op::Load, buffer->type, {index}, buffer);
  return type == buffer->type ? load : ir::make(ir::Op::Bitcast, type, {load});
}

bool is_kept(const LoopTree& tree, StageRef ref, std::size_t component, const Expr& value) {
  const lang::FuncDef& func = tree.func(ref.func);
  return func.is_tuple() && func.is_read(value) && ir::equal(value->args, tree.def(ref).lhs) &&
         ir::callee_of(value)->component == static_cast<int>(component);
}

}  // namespace calotype::lower
