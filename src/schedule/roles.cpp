// Roles: who belongs to which, and what a block has room for.
#include "schedule/roles.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/gpu.h"

namespace calotype::schedule {

FuncId outermost(const Scheduled& scheduled, FuncId func) {
  while (scheduled.of(func).compute.kind == Place::Kind::At) func = scheduled.of(func).compute.func;
  return func;
}

std::vector<std::size_t> roles_of(const Scheduled& scheduled, FuncId root) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < scheduled.roles.size(); ++i)
    if (outermost(scheduled, scheduled.roles[i].funcs.front()) == root) found.push_back(i);
  return found;
}

std::optional<std::size_t> Scheduled::role_of(FuncId id) const {
  for (;;) {
    for (std::size_t i = 0; i < roles.size(); ++i)
      if (std::find(roles[i].funcs.begin(), roles[i].funcs.end(), id) != roles[i].funcs.end()) return i;
    if (of(id).compute.kind != Place::Kind::At) return std::nullopt;
    id = of(id).compute.func;
  }
}

std::int64_t registers_at_first(std::int64_t threads) {
  constexpr std::int64_t all = 65536;
  return std::min(kMostRegisters, all / threads / kRegisterStep * kRegisterStep);
}

namespace {

class RoleCheck {
 public:
  RoleCheck(State& state, const Role& role) : state_(state), role_(role) {}

  void run() {
    if (!same_kernel()) return;
    const FuncId root = outermost(state_.out, role_.funcs.front());
    const std::string& name = state_.def(root).name;
    if (!state_.out.role_of(root))
      return refuse(fmt::format("'{}', whose blocks these warps belong to, has no role", name), name,
                    fmt::format("a role for '{}' too", name));
    for (const SharedNest& nest : state_.out.shared)
      if (outermost(state_.out, nest.func) == root || outermost(state_.out, nest.with) == root)
        return refuse(fmt::format("'{}' shares loops with '{}', by {}", state_.def(nest.func).name,
                                  state_.def(nest.with).name, nest.origin),
                      state_.def(nest.func).name, "no compute_with in a block with roles");
    const std::vector<std::size_t> all = roles_of(state_.out, root);
    if (all.size() < 2)
      return refuse(fmt::format("all warps of '{}' have the one role", name), role_.name, "a second role");
    check_sizes(all);
  }

 private:
  void refuse(std::string message, std::string value, std::string legal) {
    state_.refuse(role_.funcs.front(), -1, role_.directive, std::move(message), std::move(value),
                  std::move(legal));
  }

  bool same_kernel() {
    const FuncId first = role_.funcs.front();
    for (const FuncId func : role_.funcs) {
      const std::string& name = state_.def(func).name;
      const bool in_line = state_.out.of(func).compute.kind == Place::Kind::Inline;
      if (in_line)
        refuse(fmt::format("'{}' is computed inline, in whatever reads it", name), name,
               fmt::format("the Func that reads it; or compute_at for '{}'", name));
      else if (outermost(state_.out, func) != outermost(state_.out, first))
        refuse(fmt::format("'{}' and '{}' are computed by different kernels", name, state_.def(first).name),
               name, "Funcs of one kernel");
      else
        continue;
      return false;
    }
    return true;
  }

  void check_sizes(const std::vector<std::size_t>& all) {
    std::int64_t warps = 0, used = 0;
    for (const std::size_t i : all) warps += state_.out.roles[i].warps;
    const std::int64_t threads = warps * warp_lanes;
    if (threads > most_threads)
      return refuse(fmt::format("the roles of the block have {} warps", warps), std::to_string(role_.warps),
                    fmt::format("at most {}", most_threads / warp_lanes));
    const std::int64_t first = registers_at_first(threads);
    for (const std::size_t i : all) {
      const Role& role = state_.out.roles[i];
      used += role.warps * warp_lanes * (role.registers > 0 ? role.registers : first);
    }
    if (used > threads * first)
      refuse(
          fmt::format("the roles of the block ask for {} registers", used), std::to_string(role_.registers),
          fmt::format("at most {} in all: {} threads begin with {} each", threads * first, threads, first));
  }

  State& state_;
  const Role& role_;
};

}  // namespace

void check_roles(State& state) {
  for (const Role& role : state.out.roles) RoleCheck(state, role).run();
}

}  // namespace calotype::schedule
