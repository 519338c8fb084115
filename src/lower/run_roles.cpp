// Roles as statements: a test of the thread, and in each branch first the registers of the role.
//
// One thread starts copies, so that of a role which does nothing else one warp runs the part.

#include "lower/run_roles.h"

#include <fmt/format.h>

#include <algorithm>

#include "lower/passes.h"
#include "schedule/gpu.h"
#include "schedule/roles.h"

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

bool has_roles(const ir::Stmt& s) {
  bool found = false;
  ir::visit(s, [&](const ir::Stmt& n) { found |= is_role(n); });
  return found;
}

/// What is done once, not for each tile.
bool stays(const ir::Stmt& s) {
  using Kind = ir::SyncInfo::Kind;
  return s->kind == ir::StmtKind::Barrier &&
         (s->sync().kind == Kind::Registers || s->sync().kind == Kind::Cluster);
}

/// Blocks that reach into each other all run meanwhile.
ir::Stmt between_blocks(const LoopTree& tree, StageRef kernel, const ir::Stmt& roles) {
  const bool reach = std::any_of(tree.channels.begin(), tree.channels.end(), [&](const Channel& c) {
    const FuncId root = schedule::outermost(tree.scheduled, c.funcs.front());
    return c.blocks > 1 && root == kernel.func;
  });
  if (!reach) return roles;
  using Kind = ir::SyncInfo::Kind;
  return ir::block({ir::barrier("every block of the cluster runs", Kind::Cluster), roles,
                    ir::barrier("no block of the cluster reaches into another one any more", Kind::Cluster)});
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
  if (body->kind != ir::StmtKind::Block) return change(body);
  // Registers, and barriers around all roles, stay where they are.
  std::vector<ir::Stmt> parts, rest;
  for (const ir::Stmt& s : body->stmts) (stays(s) ? parts : rest).push_back(s);
  if (parts.empty()) return change(body);
  const auto first =
      std::find_if(body->stmts.begin(), body->stmts.end(), [](const auto& s) { return !stays(s); });
  parts.insert(parts.begin() + (first - body->stmts.begin()),
               inside(rest.size() == 1 ? rest.front() : ir::block(rest)));
  return ir::block(std::move(parts));
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
  return between_blocks(tree, kernel, ir::for_loop(all, ir::index(0), ir::index(info.all_threads()), rest));
}

ir::Stmt within_roles(const ir::Stmt& body, const std::function<ir::Stmt(const ir::Stmt&)>& change) {
  return has_roles(body) ? in_each_role(body, change) : change(body);
}

}  // namespace calotype::lower
