// Statements of a loop's body for another iteration.
#include "lower/iterations.h"

#include <algorithm>

#include "lower/passes.h"

namespace calotype::lower {

/// The loop over the iterations of a First node, counted from 0.
static ir::LoopInfo first_loop(const LoopTree& tree, const Node& first) {
  ir::LoopInfo info{.var = ir::make_symbol(ir::SymbolKind::Loop, tree.loop(first.loop).name + ".first"),
                    .func = tree.func(first.stage.func).name};
  for (const schedule::SoftwarePipeline& p : tree.schedule_of(first.stage).pipelines)
    if (p.loop == first.loop) info.origin = p.origin;
  return info;
}

static bool uses(const ir::Stmt& s, const ir::SymbolPtr& symbol) {
  bool found = false;
  ir::visit_exprs(s, [&](const Expr& e) { found |= e.defined() && ir::uses(e, symbol); });
  return found;
}

ir::Stmt with_names(const LoopInfo& loop, ir::Stmt s) {
  for (auto let = loop.lets.rbegin(); let != loop.lets.rend(); ++let)
    if (uses(s, let->symbol)) s = ir::let_stmt(let->symbol, let->value, s);
  return s;
}

namespace {

/// What stands in the body of the loop, as it is in `iteration` and if the loop has that one, with names of
/// its own.
ir::Stmt in_iteration(const LoopInfo& loop, const ir::Stmt& s, const Expr& iteration, const Expr& exists) {
  const ir::Stmt own = fresh_copy(with_names(loop, s));
  return ir::if_then(exists, ir::substitute(own, {{loop.var, iteration}}));
}

/// The children for an iteration of the loop, if it exists; commits happen whether it does or not.
ir::Stmt in_iteration(const LoopTree& tree, const Node& node, const Expr& iteration, const Expr& exists,
                      const std::function<ir::Stmt(const Node&)>& emit) {
  std::vector<ir::Stmt> stmts, syncs;
  for (const Node& child : node.children)
    (child.sync.kind == ir::SyncInfo::Kind::Commit ? syncs : stmts).push_back(emit(child));
  syncs.insert(syncs.begin(),
               in_iteration(tree.loop(node.loop), ir::block(std::move(stmts)), iteration, exists));
  return ir::block(std::move(syncs));
}

}  // namespace

ir::Stmt in_other_iterations(const LoopTree& tree, const Node& node,
                             const std::function<ir::Stmt(const Node&)>& emit) {
  const LoopInfo& loop = tree.loop(node.loop);
  const Expr here = ir::make_var(loop.var), end = loop.min + loop.extent, count = ir::index(node.count);
  switch (node.kind) {
    case NodeKind::Ahead:
      return in_iteration(tree, node, here + count, here + count < end, emit);
    case NodeKind::Behind:
      return in_iteration(tree, node, here - count, here - count >= loop.min, emit);
    case NodeKind::Last:
      return in_iteration(tree, node, end - ir::index(1), loop.extent > ir::index(0), emit);
    default:
      break;
  }
  const ir::LoopInfo info = first_loop(tree, node);
  const Expr first = loop.min + ir::make_var(info.var);
  return ir::for_loop(info, ir::index(0), count, in_iteration(tree, node, first, first < end, emit));
}

ir::LoopInfo shown(const LoopTree& tree, const Node& node) {
  const LoopInfo& loop = tree.loop(node.loop);
  ir::LoopInfo info{.var = loop.var, .binding = loop.binding, .axis = loop.axis};
  info.func = tree.func(node.stage.func).name;
  info.origin = loop.origin;
  info.part = loop.part;
  info.partition = loop.partition;
  info.partition_origin = loop.partition_origin;
  info.in_text = loop.in_text;
  return info;
}

}  // namespace calotype::lower
