// The lines that `trace` prints, as statements.
#include "lower/trace_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "calotype/error.h"
#include "lower/passes.h"

namespace calotype::lower {

namespace {

/// What is reported of a Func or input; null: nothing.
const schedule::Traced* traced(const LoopTree& tree, const std::string& name) {
  for (const schedule::Traced& t : tree.scheduled.traced)
    if (t.of == name) return &t;
  return nullptr;
}

/// What the printing code knows how to write: bools and numbers of 32 or 64 bits.
Expr printable(const Expr& e) {
  return e->type.is_float() && e->type.bits < 32 ? expand_float8(cast(Float(32), e)) : e;
}

ir::Stmt access_line(const char* what, const std::string& name, const std::vector<Expr>& coordinates,
                     const Expr& value) {
  std::string places;
  for (std::size_t d = 0; d < coordinates.size(); ++d) places += d ? ", {}" : "{}";
  std::vector<Expr> values = coordinates;
  values.push_back(printable(value));
  return ir::print_line(ir::make_one(Bool()), fmt::format("{} {}({}) = {{}}", what, name, places),
                        std::move(values));
}

std::string component_name(const lang::FuncDef& func, int component) {
  return func.is_tuple() ? fmt::format("{}.{}", func.name, component) : func.name;
}

[[noreturn]] void refuse_atomic(const LoopTree& tree, StageRef stage, const schedule::Traced& what) {
  throw Error({.kind = ErrorKind::Schedule,
               .message = fmt::format("updates of '{}' are one step each, by {}, of which no thread sees the "
                                      "result",
                                      what.of, tree.schedule_of(stage).atomic_origin),
               .func = what.of,
               .stage = lang::stage_name(tree.func(stage.func), stage.stage),
               .directive = what.origin,
               .value = "stores",
               .legal = "loads, productions; or no atomic"});
}

}  // namespace

ir::Stmt load_line(const LoopTree& tree, const Expr& call, const Expr& value) {
  const ir::Callee& of = *ir::callee_of(call);
  const schedule::Traced* what = traced(tree, of.name);
  if (!what || !what->loads) return nullptr;
  std::vector<Expr> coordinates;
  for (const Expr& e : call->args) coordinates.push_back(ir::simplify(cast(Int(64), e), tree.facts));
  const std::string name =
      of.kind == ir::CalleeKind::Func ? component_name(tree.func(FuncId{of.index}), of.component) : of.name;
  return access_line("load", name, coordinates, value);
}

ir::Stmt with_store_lines(const LoopTree& tree, StageRef stage, const std::vector<ir::BufferPtr>& buffers,
                          const ir::Stmt& stores, const std::vector<Expr>& coordinates) {
  const lang::FuncDef& func = tree.func(stage.func);
  const schedule::Traced* what = traced(tree, func.name);
  if (!what || !what->stores) return stores;
  if (stores->kind == ir::StmtKind::Locked) refuse_atomic(tree, stage, *what);
  return ir::rewrite(stores, [&](const ir::Stmt& s) {
    if (s->kind != ir::StmtKind::Store) return s;
    if (s->atomic()) refuse_atomic(tree, stage, *what);
    const auto component = std::find(buffers.begin(), buffers.end(), s->buffer()) - buffers.begin();
    const Type type = func.types[static_cast<std::size_t>(component)];
    if (s->is_async()) {  // of memory that does not change, so it may be read once more
      const Expr& read = s->exprs[0];
      return ir::block(
          {s, access_line("store", component_name(func, static_cast<int>(component)), coordinates,
                          type == read->type ? read : ir::make(ir::Op::Bitcast, type, {read}))});
    }
    // One value for both, whatever is made of its expression.
    const ir::SymbolPtr value = ir::make_symbol(ir::SymbolKind::Let, "stored", s->exprs[0]->type);
    const Expr v = ir::make_var(value);
    const Expr shown = type == v->type ? v : ir::make(ir::Op::Bitcast, type, {v});
    return ir::let_stmt(value, s->exprs[0],
                        ir::block({ir::store_like(s, v, {s->exprs.begin() + 2, s->exprs.end()}, s->exprs[1]),
                                   access_line("store", component_name(func, static_cast<int>(component)),
                                               coordinates, shown)}));
  });
}

ir::Stmt production_lines(const LoopTree& tree, FuncId func, const Expr& where) {
  std::vector<ir::Stmt> lines;
  for (FuncId id : sharing(tree.scheduled, func)) {
    const std::string& name = tree.func(id).name;
    const schedule::Traced* what = traced(tree, name);
    if (!what || !what->productions) continue;
    std::string text = "produce " + name;
    std::vector<Expr> ends;
    Expr holds = where;
    for (const ir::Interval& i : tree.stages.at({id, 0}).need) {
      text += ends.empty() ? " [{}, {})" : " x [{}, {})";
      ends.push_back(ir::simplify(i.min, tree.facts));
      ends.push_back(ir::simplify(i.max + ir::index(1), tree.facts));
      holds = holds && i.min <= i.max;
    }
    lines.push_back(ir::print_line(ir::simplify(holds, tree.facts), std::move(text), std::move(ends)));
  }
  return lines.empty() ? nullptr : ir::block(std::move(lines));
}

void refuse_requirement(const LoopTree& tree, StageRef stage, const Expr& requirement) {
  throw Error({.kind = ErrorKind::Target,
               .message = fmt::format("{}: kernels of a GPU cannot check what is required",
                                      *ir::text_of(requirement)),
               .func = tree.func(stage.func).name,
               .value = ir::to_string(requirement->args[0]),
               .legal = "a host target, or the algorithm without require"});
}

}  // namespace calotype::lower
