// Synchronisation of roles with each other, by two rings for each channel: one that readers wait for, until
// the slot is full, and one that writers wait for, until it is free. Slots are free at first.
//
// A loop that does nothing but multiply what is in the slots leaves the products of an iteration under way
// while it waits for the next slots: they are waited for behind the products of the next iteration, and the
// slots they have read are given back then. What threads themselves have read of a slot is fenced off before
// it is given back, since the copy engine writes by another path.

#include "lower/role_sync.h"

#include <algorithm>
#include <iterator>

#include "lower/multicast.h"

namespace calotype::lower {
namespace {

using Kind = ir::SyncInfo::Kind;

class Exchange {
 public:
  Exchange(const LoopTree& tree, std::size_t role) : tree_(tree), role_(role) {}

  void run(Node& role) {
    run(role.children, {});
    for (const Channel& channel : tree_.channels)
      if (is_of_blocks(loop_of(channel))) exchange(channel, closest(channel, role.children));
  }

 private:
  static constexpr int kUnderWay = 1;  ///< groups of products, while the next slots are awaited

  /// `loop`: the one whose body the nodes are.
  void run(std::vector<Node>& nodes, LoopId loop) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      Node& node = nodes[i];
      if (node.kind == NodeKind::Loop) {
        run(node.children, node.loop);
        if (const auto behind = keep_under_way(node)) {
          nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1, {products_done(), *behind});
          i += 2;
        }
      } else if (node.kind == NodeKind::Realize || node.kind == NodeKind::Produce) {
        run(node.children, {});
      }
    }
    for (const Channel& channel : tree_.channels)
      if (loop.valid() && loop == loop_of(channel)) exchange(channel, nodes);
  }

  /// Slots are for one iteration of it.
  LoopId loop_of(const Channel& channel) const {
    return tree_.scheduled.of(channel.funcs.front()).compute.loop;
  }

  bool is_writer(const Channel& c) const { return tree_.scheduled.role_of(c.funcs.front()) == role_; }

  bool is_of_blocks(LoopId loop) const {
    const ir::Binding binding = tree_.loop(loop).binding;
    return binding == ir::Binding::GpuBlock || binding == ir::Binding::GpuCluster;
  }

  bool touches(const Channel& channel, const Node& node) const {
    bool found = false;
    visit(node, [&](const Node& n, const std::vector<const Node*>&) {
      if (n.kind != NodeKind::Body) return;
      found |= is_writer(channel) ? is_of(channel, n.stage.func) : reads(channel, n.stage);
    });
    return found;
  }
  static bool is_of(const Channel& channel, FuncId func) {
    return std::find(channel.funcs.begin(), channel.funcs.end(), func) != channel.funcs.end();
  }
  bool reads(const Channel& channel, StageRef stage) const {
    const std::vector<Expr> calls = calls_in(tree_.def(stage));
    return std::any_of(calls.begin(), calls.end(), [&](const Expr& call) {
      const ir::Callee& callee = *ir::callee_of(call);
      return callee.kind == ir::CalleeKind::Func && is_of(channel, FuncId{callee.index});
    });
  }

  Node at_ring(Kind kind, std::size_t ring, std::string reason = {}) const {
    Node node{.kind = NodeKind::Sync};
    node.sync = {.kind = kind, .reason = std::move(reason), .ring = tree_.rings[ring].ring};
    node.slot = tree_.rings[ring].slot;
    return node;
  }
  static Node products_done() {
    Node node{.kind = NodeKind::Sync};
    node.sync.kind = Kind::ProductWait;
    return node;
  }

  std::string names(const Channel& channel) const {
    std::string all;
    for (const FuncId f : channel.funcs) all += (all.empty() ? "" : ", ") + tree_.func(f).name;
    return all;
  }

  /// The innermost nodes with all that touches the slot, which no loop repeats: what else is in the storage
  /// or production around it goes on without.
  std::vector<Node>& closest(const Channel& channel, std::vector<Node>& nodes) const {
    const auto touched = [&](const Node& n) { return touches(channel, n); };
    if (std::count_if(nodes.begin(), nodes.end(), touched) != 1) return nodes;
    Node& only = *std::find_if(nodes.begin(), nodes.end(), touched);
    const bool inside = only.kind == NodeKind::Realize || only.kind == NodeKind::Produce;
    return inside ? closest(channel, only.children) : nodes;
  }

  /// Around what touches the slot.
  void exchange(const Channel& channel, std::vector<Node>& nodes) const {
    const auto touched = [&](const Node& n) { return touches(channel, n); };
    auto first = std::find_if(nodes.begin(), nodes.end(), touched);
    if (first == nodes.end()) return;
    auto last = std::find_if(nodes.rbegin(), nodes.rend(), touched).base();
    while (last != nodes.end() && last->kind == NodeKind::Sync &&
           (last->sync.kind == Kind::ProductCommit || last->sync.kind == Kind::ProductWait))
      ++last;
    if (first != nodes.begin() && is_fence(*(first - 1))) --first;
    const bool writes = is_writer(channel),
               by_threads = !writes && std::any_of(first, last, [&](const Node& n) {
                 return touches(channel, n) && !multiplies(n);
               });
    const auto begin = first - nodes.begin();
    const std::vector<Node> behind = writes ? std::vector{filled(channel)} : given_back(channel, by_threads);
    nodes.insert(last, behind.begin(), behind.end());
    nodes.insert(nodes.begin() + begin,
                 at_ring(Kind::Await, writes ? channel.empty : channel.full,
                         names(channel) + (writes ? ": the slot has been read" : " complete")));
  }

  /// The slot has been written, but for what blocks of the cluster send to it: here, or to each other.
  Node filled(const Channel& channel) const {
    Node node = at_ring(Kind::Arrive, channel.full);
    for (const FuncId func : channel.funcs)
      if (channel.blocks > 1 && is_multicast(tree_, func)) node.sync.bytes += stored_bytes(tree_, func);
    return node;
  }

  /// It has been read: all who write to it are told.
  std::vector<Node> given_back(const Channel& channel, bool by_threads) const {
    Node node = at_ring(Kind::Arrive, channel.empty);
    node.sync.fence = by_threads;
    if (channel.blocks == 1) return {node};
    std::vector<Node> all;
    for (std::int64_t rank = 0; rank < channel.blocks; ++rank) {
      all.push_back(node);
      all.back().rank = ir::index(rank);
      node.sync.fence = false;  // one is enough
    }
    return all;
  }

  static bool is_fence(const Node& node) {
    return node.kind == NodeKind::Sync && node.sync.kind == Kind::ProductFence;
  }
  static bool multiplies(const Node& node) {
    if (node.kind == NodeKind::Body)
      return node.instruction && instr::completes_as_product(*node.instruction);
    return std::any_of(node.children.begin(), node.children.end(), multiplies);
  }

  // ---- Products of two iterations

  /// Where the loop does nothing else, its products are waited for one iteration later. Returns what gives
  /// back the last slots.
  std::optional<Node> keep_under_way(Node& loop) const {
    std::vector<Node> giving_back;
    std::size_t products = 0;
    for (const Node& n : loop.children) {
      if (n.kind != NodeKind::Sync) {
        if (!multiplies(n) || ++products > 1) return std::nullopt;
      } else if (n.sync.kind == Kind::Arrive) {
        if (n.sync.fence || n.sync.ring->slots < 2) return std::nullopt;
        giving_back.push_back(n);
      } else if (n.sync.kind == Kind::ProductWait && n.sync.pending != 0) {
        return std::nullopt;
      }
    }
    if (products != 1 || giving_back.empty()) return std::nullopt;
    std::erase_if(loop.children,
                  [](const Node& n) { return n.kind == NodeKind::Sync && n.sync.kind == Kind::Arrive; });
    for (Node& n : loop.children) {
      const bool waits = n.kind == NodeKind::Sync && n.sync.kind == Kind::ProductWait;
      if (waits) n.sync.kind = Kind::ProductRead;
      if (waits || is_fence(n)) n.sync.pending = kUnderWay;
    }
    Node behind{.kind = NodeKind::Behind, .stage = loop.stage, .loop = loop.loop, .count = kUnderWay};
    behind.children = giving_back;
    loop.children.push_back(std::move(behind));
    Node last{.kind = NodeKind::Last, .stage = loop.stage, .loop = loop.loop};
    last.children = std::move(giving_back);
    return last;
  }

  const LoopTree& tree_;
  const std::size_t role_;
};

}  // namespace

void exchange_between_roles(const LoopTree& tree, Node& role) {
  const KernelInfo& kernel = tree.kernels.at(role.stage);
  Exchange(tree, kernel.roles[static_cast<std::size_t>(role.count)].role).run(role);
}

}  // namespace calotype::lower
