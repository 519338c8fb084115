// What is read off the loops around an asynchronous store.
#include "lower/copied_loops.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"
#include "lower/box_copy.h"
#include "lower/first_thread.h"
#include "lower/row_copy.h"

namespace calotype::lower {
namespace {

/// The body that is all there is in the loops; null: there is more.
const Node* only_body(const Node& node) {
  if (node.kind == NodeKind::Body) return &node;
  return node.kind == NodeKind::Loop && node.children.size() == 1 ? only_body(node.children[0]) : nullptr;
}

bool is_copy(const ir::Stmt& s) { return s->kind == ir::StmtKind::Store && s->is_async(); }

bool has_copy(const ir::Stmt& s) {
  bool found = false;
  ir::visit(s, [&](const ir::Stmt& n) { found |= is_copy(n); });
  return found;
}

void add_parts(const Expr& condition, std::vector<Expr>& parts) {
  if (!ir::is(condition, ir::Op::And)) return parts.push_back(condition);
  for (const Expr& part : condition->args) add_parts(part, parts);
}

/// The loops without the copy, if anything is left of them.
ir::Stmt rest_of(const ir::Stmt& loops) {
  const ir::Stmt rest = ir::rewrite(loops, [](const ir::Stmt& s) { return is_copy(s) ? ir::block({}) : s; });
  bool any = false;
  ir::visit(rest, [&](const ir::Stmt& s) {
    any |= s->kind == ir::StmtKind::Store || s->kind == ir::StmtKind::Print;
  });
  return any ? rest : nullptr;
}

}  // namespace

bool begins_copy(const Node& node) {
  if (node.kind != NodeKind::Loop) return false;
  const Node* body = only_body(node);
  if (!body) return false;
  const bool innermost = node.children[0].kind == NodeKind::Body;
  return body->instruction->engine == instr::Engine::TensorCopy ||
         (innermost && body->instruction->engine == instr::Engine::BulkCopy);
}

ir::Stmt copy_in_bulk(const LoopTree& tree, const KernelInfo& kernel, StageRef stage, const ir::Stmt& loops,
                      const std::vector<LoopId>& open, const PlaceIn& place) {
  const auto by_one = [&](const ir::Stmt& s) {
    return by_first_thread(tree, kernel, stage.func, open, s, false);
  };
  if (tree.scheduled.sends_boxes(stage.func))
    return by_one(ir::block(
        {box_out(tree, stage, loops, place), ir::synchronise({.kind = ir::SyncInfo::Kind::BoxesCommit})}));
  const ir::Stmt copy = tree.scheduled.of(stage.func).copy == Copy::Tma
                            ? box_copy(tree, kernel, stage, loops, place)
                            : row_copy(tree, stage, loops, open, by_one);
  const ir::Stmt rest = rest_of(loops);
  return rest ? ir::block({copy, by_one(rest)}) : copy;
}

void CopiedLoops::find(const ir::Stmt& s) {
  switch (s->kind) {
    case ir::StmtKind::Let:
      return find(ir::substitute(s->body(), {{s->symbol(), s->exprs[0]}}));
    case ir::StmtKind::For:
      if (!has_copy(s)) return;
      loops_.push_back({s->loop(), s->exprs[0], s->exprs[1]});
      return find(s->body());
    case ir::StmtKind::If:
      if (!has_copy(s)) return;
      add_parts(s->exprs[0], conditions_);
      return find(s->stmts[0]);
    case ir::StmtKind::Store:
      if (!s->is_async()) return;
      if (s->exprs[1].defined() && !ir::is_one(s->exprs[1])) add_parts(s->exprs[1], conditions_);
      store_ = s;
      return;
    default:
      for (const ir::Stmt& child : s->stmts) find(child);
  }
}

Expr CopiedLoops::step(const Expr& e, const ir::SymbolPtr& variable) const {
  const Expr next = ir::make_var(variable) + ir::index(1);
  const Expr difference = simple(ir::substitute(e, {{variable, next}}) - e);
  return ir::uses(difference, variable) ? Expr() : difference;
}

CopiedLoops::End CopiedLoops::end_of(const Expr& condition, const ir::SymbolPtr& variable) const {
  const bool less = ir::is(condition, ir::Op::Lt), most = ir::is(condition, ir::Op::Le);
  const Expr room = less || most ? condition->args[1] - condition->args[0] + ir::index(less ? 0 : 1) : Expr();
  const Expr change = room.defined() ? step(room, variable) : Expr();
  const std::optional<std::int64_t> by = change.defined() ? ir::as_int(change) : std::nullopt;
  if (!by || *by >= 0)
    refuse(fmt::format("a condition leaves out others than the last: {}", ir::to_string(condition)),
           ir::to_string(condition),
           fmt::format("a factor that divides, or the tail shift_inwards; or {}", otherwise_));
  return {room, -*by};
}

void CopiedLoops::require_no_vector(const std::string& loop, ir::Binding binding) const {
  if (binding == ir::Binding::Vector)
    refuse(fmt::format("the lanes of '{}', around them, would start one each", loop), loop,
           fmt::format("a serial loop around the copies; or {}", otherwise_));
}

void CopiedLoops::refuse(const std::string& message, std::string value, std::string legal) const {
  throw Error({.kind = ErrorKind::Schedule,
               .message = fmt::format("'{}' is copied {}, and {}", func().name, how_, message),
               .func = func().name,
               .directive = tree_.scheduled.of(func().id).copy_origin,
               .value = std::move(value),
               .legal = std::move(legal)});
}

ir::Stmt CopiedLoops::finished(ir::Stmt copy, const std::vector<Expr>& conditions) const {
  for (const Expr& condition : conditions) {
    const Expr holds = simple(condition);
    if (!ir::is_one(holds)) copy = ir::if_then(holds, copy);
  }
  const std::string& origin = tree_.scheduled.of(func().id).copy_origin;
  return ir::note({fmt::format("{}: {}", func().name, origin), func().name, origin}, copy);
}

}  // namespace calotype::lower
