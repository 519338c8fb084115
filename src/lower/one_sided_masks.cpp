// Guards that mask loads alone or stores alone.
#include "lower/one_sided_masks.h"

#include <algorithm>
#include <optional>

namespace calotype::lower {
namespace {

/// The conditions of guards with that tail, or of all that mask one side; not defined where there is none.
Expr mask_of(const LoopTree& tree, StageRef stage, std::optional<Tail> tail) {
  Expr mask;
  for (const Guard& g : tree.stages.at(stage).guards)
    if (masks_one_side(g) && (!tail || g.tail == *tail))
      mask = mask.defined() ? mask && g.condition : g.condition;
  return mask;
}

}  // namespace

bool masks_one_side(const Guard& guard) {
  return guard.tail == Tail::PredicateLoads || guard.tail == Tail::PredicateStores;
}

Expr with_masked_loads(const LoopTree& tree, StageRef stage, const std::vector<ir::BufferPtr>& own,
                       const Expr& e) {
  const Expr loads = mask_of(tree, stage, Tail::PredicateLoads), any = mask_of(tree, stage, {});
  if (!any.defined()) return e;
  return ir::rewrite(e, [&](const Expr& n) {
    if (!ir::is(n, ir::Op::Load)) return n;
    // Of its own Func there may be nothing past the end.
    const bool is_own = std::find(own.begin(), own.end(), ir::buffer_of(n)) != own.end();
    const Expr& mask = is_own ? any : loads;
    return mask.defined() ? ir::make(ir::Op::LoadIf, n->type, {mask, n->args[0]}, n->attr) : n;
  });
}

ir::Stmt with_masked_stores(const LoopTree& tree, StageRef stage, const ir::Stmt& s) {
  const Expr stores = mask_of(tree, stage, Tail::PredicateStores), any = mask_of(tree, stage, {});
  if (!any.defined()) return s;
  return ir::rewrite(s, [&](const ir::Stmt& n) {
    if (n->kind == ir::StmtKind::Print && stores.defined()) return ir::if_then(stores, n);
    if (n->kind != ir::StmtKind::Store) return n;
    // An atomic update loads what it combines.
    const Expr &mask = n->atomic() ? any : stores, &before = n->exprs[1];
    if (!mask.defined()) return n;
    return ir::store_like(n, n->exprs[0], {n->exprs[2]}, ir::is_one(before) ? mask : before && mask);
  });
}

ir::Stmt for_needed(const LoopTree& tree, StageRef stage, const ir::Stmt& s) {
  const Expr mask = mask_of(tree, stage, {});
  return mask.defined() ? ir::if_then(mask, s) : s;
}

}  // namespace calotype::lower
