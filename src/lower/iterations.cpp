// Statements of a loop's body for another iteration.
#include "lower/iterations.h"

#include <algorithm>

#include "lower/passes.h"

namespace calotype::lower {

bool is_pipeline(const Node& loop) {
  return std::any_of(loop.children.begin(), loop.children.end(),
                     [](const Node& child) { return child.kind == NodeKind::Ahead; });
}

ir::LoopInfo first_loop(const LoopTree& tree, const Node& first) {
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

ir::Stmt with_names(const LoopInfo& loop, ir::Stmt s, bool used_alone) {
  for (auto let = loop.lets.rbegin(); let != loop.lets.rend(); ++let)
    if (!used_alone || uses(s, let->symbol)) s = ir::let_stmt(let->symbol, let->value, s);
  return s;
}

ir::Stmt in_iteration(const LoopInfo& loop, const ir::Stmt& s, const Expr& iteration) {
  const ir::Stmt own = fresh_copy(with_names(loop, s, true));
  return ir::if_then(iteration < loop.min + loop.extent, ir::substitute(own, {{loop.var, iteration}}));
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
