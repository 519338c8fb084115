// Copies of statements with names of their own.
//
// Passes that duplicate a body (partitioning, unrolling, scalar rests of vectors) specialise the copies
// apart, so one symbol must not stand for two values: every loop variable and named value bound inside gets a
// new symbol. Names that size an allocation stay, since Buffers refer to them; their values are the same in
// every copy.

#include "lower/passes.h"

namespace calotype::lower {

bool names_storage(const ir::Stmt& let) {
  const ir::Stmt* s = &let->body();
  while ((*s)->kind == ir::StmtKind::Let) s = &(*s)->body();
  if ((*s)->kind != ir::StmtKind::Allocate) return false;
  for (const Expr& e : (*s)->buffer()->extents)
    if (ir::uses(e, let->symbol())) return true;
  return false;
}

ir::Stmt fresh_copy(const ir::Stmt& s) {
  if (s->kind == ir::StmtKind::Let && !names_storage(s)) {
    const ir::SymbolPtr twin = ir::make_symbol(s->symbol()->kind, s->symbol()->name, s->symbol()->type);
    return ir::let_stmt(twin, s->exprs[0],
                        fresh_copy(ir::substitute(s->body(), {{s->symbol(), ir::make_var(twin)}})));
  }
  if (s->kind == ir::StmtKind::For) {
    ir::LoopInfo loop = s->loop();
    loop.var = ir::make_symbol(loop.var->kind, loop.var->name);
    return ir::for_loop(loop, s->exprs[0], s->exprs[1],
                        fresh_copy(ir::substitute(s->body(), {{s->loop().var, ir::make_var(loop.var)}})));
  }
  return ir::map_children(
      s, [](const Expr& e) { return e; }, [](const ir::Stmt& child) { return fresh_copy(child); });
}

}  // namespace calotype::lower
