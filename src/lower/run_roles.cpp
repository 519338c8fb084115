// Roles as statements: a test of the thread, and in each branch first the registers of the role.
//
// One thread starts copies, so that of a role which does nothing else one warp runs the part.

#include "lower/run_roles.h"

#include <fmt/format.h>

#include "lower/passes.h"
#include "schedule/gpu.h"

namespace calotype::lower {
namespace {

constexpr const char* kRole = "role";  // marks the tests

bool is_role(const ir::Stmt& s) {
  const auto* mark = std::get_if<std::string>(&s->attr);
  return s->kind == ir::StmtKind::If && mark && *mark == kRole;
}

ir::Stmt by_role(Expr condition, std::vector<ir::Stmt> branches) {
  return ir::make_stmt(ir::StmtKind::If, {std::move(condition)}, std::move(branches), std::string(kRole));
}

bool uses(const ir::Stmt& s, const ir::SymbolPtr& symbol) {
  bool found = false;
  ir::visit_exprs(s, [&](const Expr& e) { found |= e.defined() && ir::uses(e, symbol); });
  return found;
}

/// Down to what runs behind the registers of a role, with the names around it that it uses.
ir::Stmt in_each_role(const ir::Stmt& body, const std::function<ir::Stmt(const ir::Stmt&)>& change) {
  const auto inside = [&](const ir::Stmt& s) { return in_each_role(s, change); };
  if (body->kind == ir::StmtKind::Allocate || body->kind == ir::StmtKind::Note || is_role(body))
    return ir::map_children(body, [](const Expr& e) { return e; }, inside);
  if (body->kind == ir::StmtKind::Let) {
    const auto named = [&](const ir::Stmt& s) {
      if (!uses(s, body->symbol())) return change(s);
      return change(fresh_copy(ir::let_stmt(body->symbol(), body->exprs[0], s)));
    };
    return in_each_role(body->body(), named);
  }
  if (body->kind != ir::StmtKind::Block || body->stmts.empty() ||
      body->stmts.front()->kind != ir::StmtKind::Barrier ||
      body->stmts.front()->sync().kind != ir::SyncInfo::Kind::Registers)
    return change(body);
  const std::vector<ir::Stmt> rest(body->stmts.begin() + 1, body->stmts.end());
  return ir::block({body->stmts.front(), inside(rest.size() == 1 ? rest.front() : ir::block(rest))});
}

}  // namespace

ir::Stmt run_roles(const LoopTree& tree, StageRef kernel, std::vector<ir::Stmt> parts) {
  const KernelInfo& info = tree.kernels.at(kernel);
  const ir::LoopInfo all{.var = ir::make_symbol(ir::SymbolKind::Loop, "thread"),
                         .binding = ir::Binding::GpuThread,
                         .origin = "roles",
                         .partition = ir::Partition::Never};
  const Expr thread = ir::make_var(all.var);
  ir::Stmt rest = nullptr;
  for (std::size_t r = parts.size(); r-- > 0;) {
    const RoleInfo& role = info.roles[r];
    const schedule::Role& asked = tree.scheduled.roles[role.role];
    ir::Stmt part = r == 0 ? parts[r] : fresh_copy(parts[r]);
    if (role.copies && role.threads > schedule::warp_lanes)
      part = by_role(thread < ir::index(role.first + schedule::warp_lanes), {part});
    if (asked.registers > 0)
      part = ir::block({ir::synchronise({.kind = ir::SyncInfo::Kind::Registers,
                                         .reason = asked.origin,
                                         .number = static_cast<int>(asked.registers)}),
                        part});
    part = ir::note({.text = fmt::format("role {}: {}", asked.name, asked.origin)}, part);
    rest = rest ? by_role(thread < ir::index(role.first + role.threads), {part, rest}) : part;
  }
  return ir::for_loop(all, ir::index(0), ir::index(info.all_threads()), rest);
}

ir::Stmt within_roles(const ir::Stmt& body, const std::function<ir::Stmt(const ir::Stmt&)>& change) {
  bool roles = false;
  ir::visit(body, [&](const ir::Stmt& s) { roles |= is_role(s); });
  return roles ? in_each_role(body, change) : change(body);
}

}  // namespace calotype::lower
