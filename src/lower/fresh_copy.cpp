// Copies of statements with names of their own.
//
// Passes that duplicate a body (partitioning, unrolling, scalar rests of vectors) specialise the copies
// apart, so one symbol must not stand for two values: every loop variable and named value bound inside gets a
// new symbol. Names that size an allocation stay, since Buffers refer to them; their values are the same in
// every copy.

#include "lower/passes.h"
#include "lower/scoped_values.h"

namespace calotype::lower {

bool names_storage(const ir::Stmt& let) {
  const ir::Stmt* s = &let->body();
  while ((*s)->kind == ir::StmtKind::Let) s = &(*s)->body();
  if ((*s)->kind != ir::StmtKind::Allocate) return false;
  for (const Expr& e : (*s)->buffer()->extents)
    if (ir::uses(e, let->symbol())) return true;
  return false;
}

namespace {

/// The copy, with the new symbols of the scopes around it in place.
ir::Stmt copied(const ir::Stmt& s, ScopedValues& twins) {
  if (s->kind == ir::StmtKind::Let && !names_storage(s)) {
    const ir::SymbolPtr twin = ir::make_symbol(s->symbol()->kind, s->symbol()->name, s->symbol()->type);
    const Expr value = twins(s->exprs[0]);
    const ScopedValues::Entry entry(twins, s->symbol(), ir::make_var(twin));
    return ir::let_stmt(twin, value, copied(s->body(), twins));
  }
  if (s->kind == ir::StmtKind::For) {
    ir::LoopInfo loop = s->loop();
    loop.var = ir::make_symbol(loop.var->kind, loop.var->name);
    const Expr min = twins(s->exprs[0]), extent = twins(s->exprs[1]);
    const ScopedValues::Entry entry(twins, s->loop().var, ir::make_var(loop.var));
    return ir::for_loop(loop, min, extent, copied(s->body(), twins));
  }
  return ir::map_children(
      s, [&](const Expr& e) { return twins(e); },
      [&](const ir::Stmt& child) { return copied(child, twins); });
}

}  // namespace

ir::Stmt fresh_copy(const ir::Stmt& s) {
  ScopedValues twins;
  return copied(s, twins);
}

}  // namespace calotype::lower
