// Roles: what a block does, in parts that warps of their own run side by side.
//
// Requires: tiles, and instructions at all bodies. Leaves: inside the block loops of a kernel with roles a
// Role node for each, with the loops around its own stages as they stood, once in every role that has
// something in them; around those the shared memory of all; the channels of what goes from one role to
// another, and their rings. A part of the pipeline pass: what is copied in a role of its own needs no
// pipeline, since whoever copies runs ahead as far as there are free slots.

#include "lower/split_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lower/multicast.h"
#include "lower/passes.h"
#include "schedule/gpu.h"
#include "schedule/roles.h"

namespace calotype::lower {
namespace {

constexpr std::int64_t kGroup = 128;  // threads that change their registers together

[[noreturn]] void refuse_role(const LoopTree& tree, const schedule::Role& role, FuncId func,
                              std::string message, std::string value, std::string legal) {
  throw Error({.kind = ErrorKind::Schedule,
               .message = std::move(message),
               .func = tree.func(func).name,
               .directive = role.origin,
               .value = std::move(value),
               .legal = std::move(legal)});
}

/// Whether all that the role computes are copies that one thread starts.
bool only_copies(const LoopTree& tree, std::size_t role) {
  bool copies = true;
  for (const FuncId id : tree.scheduled.order)
    if (!tree.inlined(id) && tree.scheduled.role_of(id) == role)
      copies &= tree.scheduled.of(id).copy == Copy::Tma && !tree.scheduled.sends_boxes(id);
  return copies;
}

class Splitter {
 public:
  Splitter(LoopTree& tree, StageRef kernel) : tree_(tree), kernel_(kernel) {}

  void run(Node& nest) {
    Node& block = innermost_block(nest);
    require_own_sums(block);
    const std::size_t others = tree_.channels.size();  // of kernels before
    make_channels(block);
    share_channels(others);
    std::vector<Node> parts, realised;
    const std::vector<RoleInfo>& roles = tree_.kernels.at(kernel_).roles;
    for (std::size_t r = 0; r < roles.size(); ++r) {
      Node part{.kind = NodeKind::Role, .stage = kernel_, .count = static_cast<std::int64_t>(r)};
      part.children = parts_of(block.children, roles[r].role);
      parts.push_back(std::move(part));
    }
    take_shared(block.children, realised);
    for (auto node = realised.rbegin(); node != realised.rend(); ++node) {
      node->children = std::move(parts);
      parts.clear();
      parts.push_back(std::move(*node));
    }
    block.children = std::move(parts);
  }

 private:
  /// What runs inside all block loops.
  Node& innermost_block(Node& node) const {
    for (Node& child : node.children)
      if (child.kind == NodeKind::Loop &&
          (is_bound(child, ir::Binding::GpuBlock) || is_bound(child, ir::Binding::GpuCluster)))
        return innermost_block(child);
    return node;
  }
  bool is_bound(const Node& node, ir::Binding binding) const {
    return tree_.loop(node.loop).binding == binding;
  }

  bool is_shared(FuncId func) const { return tree_.scheduled.of(func).memory == Memory::Shared; }

  // ---- Parts

  /// What a role has of some nodes.
  std::vector<Node> parts_of(const std::vector<Node>& nodes, std::size_t role) const {
    std::vector<Node> all;
    for (const Node& node : nodes) {
      std::vector<Node> own = part_of(node, role);
      std::move(own.begin(), own.end(), std::back_inserter(all));
    }
    return all;
  }

  std::vector<Node> part_of(const Node& node, std::size_t role) const {
    switch (node.kind) {
      case NodeKind::Realize:
      case NodeKind::Produce: {
        std::vector<Node> inside = parts_of(node.children, role);
        const bool shared = node.kind == NodeKind::Realize && is_shared(node.func);
        const bool elsewhere = shared || role_of(node.func) != role;
        if (elsewhere || inside.empty()) return inside;
        return {with_children(node, std::move(inside))};
      }
      case NodeKind::Loop: {
        std::vector<Node> inside = parts_of(node.children, role);
        if (inside.empty()) return {};
        return {with_children(node, std::move(inside))};
      }
      default:
        return role_of(node.stage.func) == role ? std::vector<Node>{node} : std::vector<Node>{};
    }
  }

  static Node with_children(const Node& node, std::vector<Node> children) {
    Node made{
        .kind = node.kind, .func = node.func, .stage = node.stage, .loop = node.loop, .count = node.count};
    made.children = std::move(children);
    return made;
  }

  std::size_t role_of(FuncId func) const { return *tree_.scheduled.role_of(func); }

  /// Shared memory is all roles', for as long as the block runs.
  void take_shared(const std::vector<Node>& nodes, std::vector<Node>& realised) const {
    for (const Node& node : nodes) {
      if (node.kind == NodeKind::Realize && is_shared(node.func))
        realised.push_back({.kind = NodeKind::Realize, .func = node.func});
      take_shared(node.children, realised);
    }
  }

  // ---- Channels

  /// Barriers of a cluster count all threads of its blocks, not those of a role.
  void require_own_sums(const Node& block) const {
    visit(block, [&](const Node& node, const std::vector<const Node*>&) {
      if (node.kind != NodeKind::Send || !tree_.reductions.at(node.stage).in_cluster()) return;
      const schedule::Role& role = tree_.scheduled.roles[role_of(node.stage.func)];
      const std::string& name = tree_.func(node.stage.func).name;
      refuse_role(tree_, role, node.stage.func,
                  fmt::format("blocks of a cluster have partial results of '{}', and roles", name), name,
                  "a cluster whose blocks have their own results; or no roles");
    });
  }

  /// Blocks that copy for each other wait until a slot is free in all of them.
  void share_channels(std::size_t first) {
    const std::int64_t cluster = tree_.kernels.at(kernel_).cluster;
    for (std::size_t i = first; i < tree_.channels.size(); ++i) {
      Channel& c = tree_.channels[i];
      const bool shared =
          std::any_of(c.funcs.begin(), c.funcs.end(), [&](FuncId func) { return is_multicast(tree_, func); });
      if (!shared) continue;
      c.blocks = cluster;
      tree_.rings[c.empty].arrivals *= static_cast<int>(cluster);
    }
  }

  void make_channels(const Node& block) {
    visit(block, [&](const Node& node, const std::vector<const Node*>&) {
      if (node.kind != NodeKind::Body) return;
      require_counted_elsewhere(node);
      for (const Expr& call : calls_in(tree_.def(node.stage)))
        if (ir::callee_of(call)->kind == ir::CalleeKind::Func)
          meet(node.stage, FuncId{ir::callee_of(call)->index});
    });
  }

  /// Barriers that count bulk copies count all warps of the block, or those between two roles.
  void require_counted_elsewhere(const Node& body) const {
    const FuncId func = body.stage.func;
    const RoleInfo& computing = tree_.kernels.at(kernel_).roles.front();
    if (role_of(func) != computing.role || !instr::completes_by_transaction(*body.instruction)) return;
    const schedule::Role& role = tree_.scheduled.roles[computing.role];
    refuse_role(tree_, role, func,
                fmt::format("'{}' is copied in bulk by the role '{}', which computes", tree_.func(func).name,
                            role.name),
                tree_.func(func).name, "the role that copies; or copy(async), copy(threads)");
  }

  /// A stage reads a Func, maybe another role's.
  void meet(StageRef reader, FuncId func) {
    if (tree_.scheduled.of(func).compute.kind != schedule::Place::Kind::At) return;
    const std::size_t from = role_of(func), to = role_of(reader.func);
    if (from == to) return;
    const schedule::Role& role = tree_.scheduled.roles[from];
    const std::string& name = tree_.func(func).name;
    if (!is_shared(func) || tree_.scheduled.of(func).copy != Copy::Tma)
      refuse_role(
          tree_, role, func,
          fmt::format("'{}' is computed by the role '{}' and read by '{}', and no copy(tma) to shared "
                      "memory",
                      name, role.name, tree_.scheduled.roles[to].name),
          name, "store_in(shared) and copy(tma) on it, or one role for both");
    if (tree_.channel_of(func)) return require_one_reader(func, to);
    if (is_multicast(tree_, func)) require_common(tree_, func);
    readers_[func] = to;
    join(func, to);
  }

  void require_one_reader(FuncId func, std::size_t to) const {
    if (readers_.at(func) == to) return;
    refuse_role(tree_, tree_.scheduled.roles[to], func,
                fmt::format("'{}' is read by the roles '{}' and '{}'", tree_.func(func).name,
                            tree_.scheduled.roles[readers_.at(func)].name, tree_.scheduled.roles[to].name),
                tree_.func(func).name, "one role that reads it; or a copy for each, by in()");
  }

  /// What is copied at one loop for the same readers is awaited together.
  void join(FuncId func, std::size_t to) {
    Storage& storage = tree_.storage.at(func);
    const LoopId loop = tree_.scheduled.of(func).compute.loop;
    if (!storage.copy.defined()) storage.copy = ir::index(0);
    name_slot(tree_, loop, storage);
    for (Channel& c : tree_.channels) {
      const FuncId other = c.funcs.front();
      const bool alike = tree_.scheduled.of(other).compute.loop == loop && readers_.at(other) == to &&
                         ir::equal(tree_.rings[c.full].slot, storage.copy);
      if (!alike) continue;
      c.funcs.push_back(func);
      tree_.ring_of[func] = c.full;
      return;
    }
    const std::string& name = tree_.loop(loop).name;
    const int slots = static_cast<int>(storage.copies);
    tree_.channels.push_back({{func}, tree_.rings.size(), tree_.rings.size() + 1});
    tree_.ring_of[func] = tree_.rings.size();
    tree_.rings.push_back({.name = name + ".full", .slots = slots, .slot = storage.copy, .arrivals = 1});
    tree_.rings.push_back({.name = name + ".empty",
                           .slots = slots,
                           .slot = storage.copy,
                           .arrivals = static_cast<int>(threads_of(to) / schedule::warp_lanes),
                           .open = true});
  }

  std::int64_t threads_of(std::size_t role) const {
    for (const RoleInfo& info : tree_.kernels.at(kernel_).roles)
      if (info.role == role) return info.threads;
    return 0;
  }

  LoopTree& tree_;
  const StageRef kernel_;
  std::map<FuncId, std::size_t> readers_;  ///< the role that reads what another one computes
};

void visit_root(LoopTree& tree, Node& node) {
  for (Node& child : node.children) {
    if (node.kind != NodeKind::Produce) {
      visit_root(tree, child);
      continue;
    }
    const auto kernel = tree.kernels.find(child.stage);
    if (kernel != tree.kernels.end() && !kernel->second.roles.empty()) Splitter(tree, child.stage).run(child);
  }
}

}  // namespace

void name_slot(LoopTree& tree, LoopId id, Storage& storage) {
  LoopInfo& loop = tree.loop(id);
  if (storage.copies == 1) return;
  const auto known = std::find_if(loop.lets.begin(), loop.lets.end(),
                                  [&](const Binding& let) { return ir::equal(let.value, storage.copy); });
  if (known != loop.lets.end()) {
    storage.copy = ir::make_var(known->symbol);
    return;
  }
  const ir::SymbolPtr slot = ir::make_symbol(ir::SymbolKind::Let, loop.name + ".slot");
  tree.facts.set_value(slot, storage.copy);
  loop.lets.push_back({slot, storage.copy});
  storage.copy = ir::make_var(slot);
}

void give_roles(const LoopTree& tree, FuncId root, KernelInfo& kernel) {
  std::vector<std::size_t> all = schedule::roles_of(tree.scheduled, root);
  if (all.empty()) return;
  std::stable_partition(all.begin(), all.end(), [&](std::size_t r) { return !only_copies(tree, r); });
  std::int64_t first = 0;
  for (const std::size_t r : all) {
    const schedule::Role& role = tree.scheduled.roles[r];
    const RoleInfo info{r, first, role.warps * schedule::warp_lanes, only_copies(tree, r)};
    if (!info.copies && first > 0)
      refuse_role(tree, role, role.funcs.front(),
                  fmt::format("the roles '{}' and '{}' both compute", tree.scheduled.roles[all.front()].name,
                              role.name),
                  role.name, "one role that computes, and others that do nothing but copy(tma)");
    if (role.registers > 0 && first % kGroup != 0)
      refuse_role(
          tree, role, role.funcs.front(),
          fmt::format("the warps of '{}' begin at thread {}", role.name, first), role.name,
          "multiples of four warps in the roles before it, which have registers of their own together");
    first += info.threads;
    kernel.roles.push_back(info);
  }
  const schedule::Role& computing = tree.scheduled.roles[all.front()];
  if (kernel.threads[1] * kernel.threads[2] > 1)
    refuse_role(tree, computing, root, "loops of the block are bound to threads along y or z",
                std::to_string(kernel.threads[1] * kernel.threads[2]), "gpu_threads along x alone");
  const std::int64_t threads = kernel.roles.front().threads, bound = kernel.threads[0];
  if (bound > threads)
    refuse_role(tree, computing, root,
                fmt::format("loops of '{}' are bound to {} threads", computing.name, bound),
                std::to_string(computing.warps), fmt::format("{} warps", (bound + 31) / 32));
  kernel.threads[0] = threads;
}

void split_roles(LoopTree& tree) { visit_root(tree, tree.root); }

}  // namespace calotype::lower
