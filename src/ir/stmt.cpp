// Construction, walking and rewriting of statements.

#include "ir/stmt.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"

namespace calotype::ir {

namespace {

void append(std::vector<Stmt>& flat, const Stmt& s) {
  if (s == nullptr) return;
  if (s->kind != StmtKind::Block) {
    flat.push_back(s);
    return;
  }
  for (const Stmt& child : s->stmts) append(flat, child);
}

bool same_exprs(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return x.same_as(y); });
}

/// `s` with other operands, as its maker would build it.
Stmt rebuild(const Stmt& s, std::vector<Expr> exprs, std::vector<Stmt> stmts) {
  if (s->kind == StmtKind::Block) return block(std::move(stmts));
  if (s->kind == StmtKind::If && stmts.size() == 2 && stmts[1] == nullptr) stmts.pop_back();
  for (Stmt& child : stmts) {
    if (child == nullptr) child = block({});
  }
  return make_stmt(s->kind, std::move(exprs), std::move(stmts), s->attr);
}

const std::function<Expr(const Expr&)> kSameExpr = [](const Expr& e) { return e; };

}  // namespace

Stmt make_stmt(StmtKind kind, std::vector<Expr> exprs, std::vector<Stmt> stmts, StmtAttr attr) {
  return std::make_shared<const StmtNode>(
      StmtNode{kind, std::move(exprs), std::move(stmts), std::move(attr)});
}

Stmt block(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  for (const Stmt& s : stmts) append(flat, s);
  return flat.size() == 1 ? flat.front() : make_stmt(StmtKind::Block, {}, std::move(flat));
}

Stmt let_stmt(const SymbolPtr& symbol, Expr value, Stmt body) {
  return make_stmt(StmtKind::Let, {std::move(value)}, {std::move(body)}, symbol);
}

Stmt for_loop(LoopInfo loop, Expr min, Expr extent, Stmt body) {
  return make_stmt(StmtKind::For, {std::move(min), std::move(extent)}, {std::move(body)},
                   std::make_shared<const LoopInfo>(std::move(loop)));
}

Stmt if_then(Expr condition, Stmt then_case, Stmt else_case) {
  std::vector<Stmt> cases = {std::move(then_case)};
  if (else_case != nullptr) cases.push_back(std::move(else_case));
  return make_stmt(StmtKind::If, {std::move(condition)}, std::move(cases));
}

Stmt store(const BufferPtr& buffer, Expr value, std::vector<Expr> coordinates, Expr predicate) {
  if (!predicate.defined()) predicate = make_one(Bool(value.type().lanes));
  std::vector<Expr> exprs = {std::move(value), std::move(predicate)};
  exprs.insert(exprs.end(), coordinates.begin(), coordinates.end());
  return make_stmt(StmtKind::Store, std::move(exprs), {}, buffer);
}

Stmt store_like(const Stmt& s, Expr value, std::vector<Expr> coordinates, Expr predicate) {
  const Stmt plain = store(s->buffer(), std::move(value), std::move(coordinates), std::move(predicate));
  return make_stmt(StmtKind::Store, plain->exprs, {}, s->attr);
}

Stmt atomic_store(const BufferPtr& buffer, Op op, Expr value, std::vector<Expr> coordinates, Expr predicate) {
  const Stmt plain = store(buffer, std::move(value), std::move(coordinates), std::move(predicate));
  return make_stmt(StmtKind::Store, plain->exprs, {}, std::make_shared<const Atomic>(Atomic{buffer, op}));
}

Stmt remote_store(const BufferPtr& buffer, Expr value, Expr index, Expr rank, const RingPtr& ring) {
  const Stmt plain = store(buffer, std::move(value), {std::move(index), std::move(rank)});
  return make_stmt(StmtKind::Store, plain->exprs, {}, std::make_shared<const Remote>(Remote{buffer, ring}));
}

Stmt allocate(const BufferPtr& buffer, Stmt body) {
  return make_stmt(StmtKind::Allocate, {}, {std::move(body)}, buffer);
}

Stmt check(Expr condition, std::string text, std::vector<Expr> values) {
  values.insert(values.begin(), std::move(condition));
  return make_stmt(StmtKind::Check, std::move(values), {}, std::move(text));
}

Stmt print_line(Expr condition, std::string text, std::vector<Expr> values) {
  values.insert(values.begin(), std::move(condition));
  return make_stmt(StmtKind::Print, std::move(values), {}, std::move(text));
}

Stmt async_store(const Stmt& store) {
  return make_stmt(StmtKind::Store, store->exprs, {},
                   std::make_shared<const AsyncStore>(AsyncStore{store->buffer()}));
}

Stmt bulk_store(BulkStore how, RowCopy row) {
  const Stmt plain =
      store(how.buffer, std::move(row.load),
            {std::move(row.index), std::move(row.slot), std::move(row.count), std::move(row.step)});
  return make_stmt(StmtKind::Store, plain->exprs, {}, std::make_shared<const BulkStore>(std::move(how)));
}

Stmt box_store(BulkStore how, BoxCopy box) {
  std::vector<Expr> operands = {std::move(box.index), how.out ? index(0) : std::move(box.slot)};
  operands.insert(operands.end(), box.start.begin(), box.start.end());
  if (box.receivers.defined()) operands.push_back(std::move(box.receivers));
  const BufferPtr& source = how.map->source;
  const Expr element = make(Op::Load, source->type, {index(0)}, source);
  const Stmt plain = store(how.buffer, element, std::move(operands));
  return make_stmt(StmtKind::Store, plain->exprs, {}, std::make_shared<const BulkStore>(std::move(how)));
}

Stmt barrier(std::string reason, SyncInfo::Kind kind) {
  return synchronise({.kind = kind, .reason = std::move(reason)});
}

Stmt synchronise(SyncInfo sync, Expr slot, Expr rank) {
  std::vector<Expr> operands;
  if (slot.defined()) operands.push_back(std::move(slot));
  if (rank.defined()) operands.push_back(std::move(rank));
  return make_stmt(StmtKind::Barrier, std::move(operands), {},
                   std::make_shared<const SyncInfo>(std::move(sync)));
}

Stmt note(Note note, Stmt body) {
  return make_stmt(StmtKind::Note, {}, {std::move(body)}, std::make_shared<const Note>(std::move(note)));
}

Stmt prefetch(const BufferPtr& buffer, Expr index,
              const std::vector<std::pair<Expr, Expr>>& counts_and_steps) {
  std::vector<Expr> exprs = {std::move(index)};
  for (const auto& [count, step] : counts_and_steps) {
    exprs.push_back(count);
    exprs.push_back(step);
  }
  return make_stmt(StmtKind::Prefetch, std::move(exprs), {}, buffer);
}

Stmt call_extern(ExternCall call, std::vector<Expr> operands) {
  return make_stmt(StmtKind::Extern, std::move(operands), {},
                   std::make_shared<const ExternCall>(std::move(call)));
}

Stmt instruction(InstructionUse use, std::vector<Expr> operands) {
  return make_stmt(StmtKind::Instruction, std::move(operands), {},
                   std::make_shared<const InstructionUse>(std::move(use)));
}

Stmt locked(const BufferPtr& buffer, Expr index, Stmt body) {
  return make_stmt(StmtKind::Locked, {std::move(index)}, {std::move(body)}, buffer);
}

Stmt metered(Meter meter, Stmt body) {
  return make_stmt(StmtKind::Meter, {}, {std::move(body)}, std::make_shared<const Meter>(std::move(meter)));
}

Stmt count(Meter meter, Expr amount) {
  return make_stmt(StmtKind::Meter, {std::move(amount)}, {}, std::make_shared<const Meter>(std::move(meter)));
}

Stmt map_children(const Stmt& s, const std::function<Expr(const Expr&)>& on_expr,
                  const std::function<Stmt(const Stmt&)>& on_stmt) {
  std::vector<Expr> exprs;
  exprs.reserve(s->exprs.size());
  for (const Expr& e : s->exprs) exprs.push_back(on_expr(e));
  std::vector<Stmt> stmts;
  stmts.reserve(s->stmts.size());
  for (const Stmt& child : s->stmts) stmts.push_back(on_stmt(child));
  if (same_exprs(exprs, s->exprs) && stmts == s->stmts) return s;
  return rebuild(s, std::move(exprs), std::move(stmts));
}

Stmt rewrite(const Stmt& s, const std::function<Stmt(const Stmt&)>& f) {
  return f(map_children(s, kSameExpr, [&f](const Stmt& child) { return rewrite(child, f); }));
}

Stmt rewrite_exprs(const Stmt& s, const std::function<Expr(const Expr&)>& f) {
  return map_children(s, f, [&f](const Stmt& child) { return rewrite_exprs(child, f); });
}

void visit(const Stmt& s, const std::function<void(const Stmt&)>& f) {
  if (s == nullptr) return;
  f(s);
  for (const Stmt& child : s->stmts) visit(child, f);
}

void visit_exprs(const Stmt& s, const std::function<void(const Expr&)>& f) {
  visit(s, [&f](const Stmt& node) {
    for (const Expr& e : node->exprs) f(e);
  });
}

Stmt substitute(const Stmt& s, const Substitution& map) {
  if (map.empty()) return s;
  return rewrite_exprs(s, [&map](const Expr& e) { return substitute(e, map); });
}

}  // namespace calotype::ir
