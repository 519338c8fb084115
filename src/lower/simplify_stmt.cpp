// Simplification of statements: expressions under what loops and conditions around them say, branches that
// are decided, loops of one or no iteration, and names for short values put in place.
//
// Requires and leaves: statements of any level. Runs between the passes that expand loops, which rely on
// constant extents and decided branches.

#include "lower/passes.h"
#include "lower/scoped_values.h"

namespace calotype::lower {
namespace {

constexpr int kMostTerms = 8;

/// Whether an expression is a sum of few symbols times constants. Such a name hides from the bounds that use
/// it what they have in common, and costs nothing to compute again.
bool is_plain(const Expr& e, int& terms) {
  if (ir::is_const(e) || ir::is(e, ir::Op::Variable)) return --terms >= 0;
  if (!e->type.is_scalar()) return false;
  if (ir::is(e, ir::Op::Mul))
    return (ir::is_const(e->args[0]) || ir::is_const(e->args[1])) && is_plain(e->args[0], terms) &&
           is_plain(e->args[1], terms);
  if (ir::is(e, ir::Op::Add) || ir::is(e, ir::Op::Sub))
    return is_plain(e->args[0], terms) && is_plain(e->args[1], terms);
  return false;
}

bool is_plain(const Expr& e) {
  int terms = kMostTerms;
  return is_plain(e, terms);
}

class StmtSimplifier {
 public:
  explicit StmtSimplifier(const ir::Facts& facts) : facts_(facts), algebra_(facts_) {}

  ir::Stmt run(const ir::Stmt& s) {
    switch (s->kind) {
      case ir::StmtKind::Block:
        return run_block(s);
      case ir::StmtKind::Let:
        return run_let(s);
      case ir::StmtKind::For:
        return run_for(s);
      case ir::StmtKind::If:
        return run_if(s);
      default:
        return ir::map_children(
            s, [&](const Expr& e) { return simple(e); },
            [&](const ir::Stmt& child) { return or_empty(run(child)); });
    }
  }

 private:
  Expr simple(const Expr& e) { return e.defined() ? algebra_.simplify(values_(e)) : e; }
  static ir::Stmt or_empty(ir::Stmt s) { return s ? s : ir::block({}); }

  ir::Stmt run_block(const ir::Stmt& s) {
    std::vector<ir::Stmt> stmts;
    for (const ir::Stmt& child : s->stmts)
      if (ir::Stmt done = run(child)) stmts.push_back(std::move(done));
    return stmts.empty() ? nullptr : ir::block(std::move(stmts));
  }

  ir::Stmt run_let(const ir::Stmt& s) {
    const Expr value = simple(s->exprs[0]);
    const bool replace = value->args.empty() || (value->type == Int(64) && is_plain(value));
    const ScopedValues::Entry entry(values_, s->symbol(), replace ? value : Expr());
    // Extents of allocations refer to their names, which no rewriting of expressions reaches.
    if (names_storage(s)) return ir::let_stmt(s->symbol(), value, or_empty(run(s->body())));
    if (replace) return run(s->body());
    if (value->type == Int(64)) facts_.set_value(s->symbol(), value);
    ir::Stmt body = run(s->body());
    return body ? ir::let_stmt(s->symbol(), value, body) : nullptr;
  }

  ir::Stmt run_for(const ir::Stmt& s) {
    const ir::LoopInfo& loop = s->loop();
    const Expr min = simple(s->exprs[0]), extent = simple(s->exprs[1]);
    const std::optional<std::int64_t> count = ir::as_int(extent);
    if (count && *count <= 0) return nullptr;
    const bool gpu = loop.binding == ir::Binding::GpuBlock || loop.binding == ir::Binding::GpuThread ||
                     loop.binding == ir::Binding::GpuCluster;
    const bool once = count == 1 && !gpu;
    const ScopedValues::Entry entry(values_, loop.var, once ? min : Expr());
    if (once) return run(s->body());
    if (runs_at_most_once(loop, extent)) return run_once_if(s, min, extent);
    facts_.set_range(loop.var, min, simple(min + extent - ir::index(1)));
    ir::Stmt body = run(s->body());
    return body ? ir::for_loop(loop, min, extent, body) : nullptr;
  }

  /// Such a loop is a condition: what its body indexes with the variable then has a constant place, as
  /// registers must.
  bool runs_at_most_once(const ir::LoopInfo& loop, const Expr& extent) const {
    if (loop.binding != ir::Binding::Serial && loop.binding != ir::Binding::Unrolled) return false;
    if (ir::as_int(extent)) return false;
    const std::optional<std::int64_t> most = ir::constant_upper_bound(extent, facts_);
    return most && *most <= 1;
  }

  ir::Stmt run_once_if(const ir::Stmt& s, const Expr& min, const Expr& extent) {
    const ScopedValues::Entry entry(values_, s->loop().var, min);
    return run_if(ir::make_stmt(ir::StmtKind::If, {extent > ir::index(0)}, {s->body()}, {}));
  }

  ir::Stmt run_if(const ir::Stmt& s) {
    const Expr condition = simple(s->exprs[0]);
    const std::optional<std::int64_t> decided = ir::as_int(condition);
    if (decided) {
      if (*decided) return run(s->stmts[0]);
      return s->stmts.size() > 1 ? run(s->stmts[1]) : nullptr;
    }
    facts_.assume(condition);
    ir::Stmt then_case = run(s->stmts[0]);
    const Expr otherwise = simple(!condition);
    facts_.drop_assumption();
    facts_.assume(otherwise);
    ir::Stmt else_case = s->stmts.size() > 1 ? run(s->stmts[1]) : nullptr;
    facts_.drop_assumption();
    if (!then_case && !else_case) return nullptr;
    std::vector<ir::Stmt> cases{or_empty(then_case)};
    if (else_case) cases.push_back(else_case);
    return ir::make_stmt(ir::StmtKind::If, {condition}, std::move(cases), s->attr);
  }

  ir::Facts facts_;
  ir::Algebra algebra_;
  ScopedValues values_;  ///< of names and loops that are gone, simple already
};

}  // namespace

ir::Stmt simplify_stmt(const ir::Stmt& s, const ir::Facts& facts) {
  ir::Stmt result = StmtSimplifier(facts).run(s);
  return result ? result : ir::block({});
}

ir::Facts with_loops(ir::Facts facts, const ir::Stmt& s) {
  ir::visit(s, [&](const ir::Stmt& node) {
    if (node->kind == ir::StmtKind::For)
      facts.set_range(node->loop().var, node->exprs[0],
                      ir::simplify(node->exprs[0] + node->exprs[1] - ir::index(1)));
    if (node->kind == ir::StmtKind::Let && node->exprs[0]->type == Int(64) && !names_storage(node))
      facts.set_value(node->symbol(), node->exprs[0]);
  });
  return facts;
}

}  // namespace calotype::lower
