// Sync: the only pass that places barriers, and commits and waits of asynchronous copies.
//
// Requires: memory. Leaves: Sync nodes between nests of a block where one thread may touch what another one
// does: a read after a write, a write after a read, a write after a write of the same shared storage with no
// barrier between, around loops' back edges too; and of global storage, where stages of several Funcs share a
// kernel. What a barrier orders comes from the access tables of instruction records. Accesses of a stage to
// its own element are its thread's alone and need none. Nothing to do on the host.
//
// What completes by commit groups is waited for in front of the barrier that its first reader needs. In a
// software pipeline of depth S each iteration makes one group, an empty one too: with S - 1 made before the
// loop, the group of an iteration is complete when all but the latest S - 2 are. One barrier at the head of
// the body then serves twice: what has arrived for this iteration may be read, and the slot that the
// iteration before has read may be filled. Groups of other copies in between make a wait longer, never
// shorter.
//
// Bulk copies are counted by the barriers of a ring: every warp arrives when it has started its own, and all
// wait for the slot, in place of groups. There is an arrival for each iteration that is copied. The engine
// that carries them goes by another path to memory than the threads: what these have read of a slot is fenced
// off at the next barrier, before a copy to the slot can begin.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

#include "lower/passes.h"
#include "lower/role_sync.h"

namespace calotype::lower {
namespace {

constexpr int kPublished = -2;

/// Shared storage: of a Func, or the slots of a reduction by threads.
struct Stored {
  FuncId func;
  int slots_of = -1;  ///< the stage that is reduced; -1: the Func's own; kPublished: what it has in registers
  auto operator<=>(const Stored&) const = default;
};

/// Shared storage touched since the last barrier, and what copies have been started to and not waited for.
struct Pending {
  std::set<Stored> written, read, started;
  std::set<Stored> leaving;   ///< in boxes that are on their way out
  std::set<Stored> unfenced;  ///< slots of bulk copies that have been read, and not been fenced off since
  bool past_threads = false;  ///< of what comes next: what it reads goes another way than the threads
  bool operator==(const Pending&) const = default;
  template <class Keep>
  void keep_only(Keep keep) {
    std::erase_if(written, [&](const Stored& s) { return !keep(s); });
    std::erase_if(read, [&](const Stored& s) { return !keep(s); });
    std::erase_if(started, [&](const Stored& s) { return !keep(s); });
  }
  void merge(const Pending& other) {
    written.insert(other.written.begin(), other.written.end());
    read.insert(other.read.begin(), other.read.end());
    started.insert(other.started.begin(), other.started.end());
    leaving.insert(other.leaving.begin(), other.leaving.end());
    unfenced.insert(other.unfenced.begin(), other.unfenced.end());
  }
};

Node sync_node(ir::SyncInfo::Kind kind, std::string reason = {}, int pending = 0) {
  Node node{.kind = NodeKind::Sync};
  node.sync = {.kind = kind, .reason = std::move(reason), .pending = pending};
  return node;
}

class Barriers {
 public:
  explicit Barriers(LoopTree& tree) : tree_(tree) {}

  void run() {
    place_of_pipelines(tree_.root);
    turn_rings(tree_.root);
    wait_for_products(tree_.root);
    exchange(tree_.root);
    visit_root(tree_.root);
  }

 private:
  // ---- Software pipelines

  using Kind = ir::SyncInfo::Kind;

  void place_of_pipelines(Node& node) {
    if (node.kind == NodeKind::Role) role_ = &node;
    for (Node& child : node.children) place_of_pipelines(child);
    if (node.kind == NodeKind::Role) role_ = nullptr;
    if (node.kind == NodeKind::First) complete_start(node);
    if (node.kind != NodeKind::Loop || node.children.empty() || node.children.front().kind != NodeKind::Ahead)
      return;
    Node& ahead = node.children.front();
    const std::string names = copied(ahead), mine = "for this iteration's " + names;
    std::vector<Node> head;
    if (any_in_groups(ahead)) head.push_back(sync_node(Kind::Wait, mine, static_cast<int>(ahead.count) - 1));
    if (const RingUse* ring = ring_of(ahead)) head.push_back(ring_node(Kind::Await, *ring, mine));
    head.push_back(sync_node(Kind::Block));
    head.back().sync = meeting(false, names + " complete; the slot of the last iteration has been read");
    head.back().sync.fence = ring_of(ahead) != nullptr || multiplies(node);
    const bool groups = any_in_groups(ahead);
    if (const RingUse* ring = ring_of(ahead)) ahead.children.push_back(ring_node(Kind::Arrive, *ring));
    if (groups) node.children.insert(node.children.begin() + 1, sync_node(Kind::Commit));
    node.children.insert(node.children.begin(), std::make_move_iterator(head.begin()),
                         std::make_move_iterator(head.end()));
  }

  void complete_start(Node& first) const {
    const bool groups = any_in_groups(first);
    if (const RingUse* ring = ring_of(first)) first.children.push_back(ring_node(Kind::Arrive, *ring));
    if (groups) first.children.push_back(sync_node(Kind::Commit));
  }

  static Node ring_node(Kind kind, const RingUse& ring, std::string reason = {}) {
    Node node = sync_node(kind, std::move(reason));
    node.sync.ring = ring.ring;
    node.slot = ring.slot;
    return node;
  }

  /// Of the partial results of a cluster's blocks.
  Node sent_node(Kind kind, const Stored& s) const {
    const ThreadReduction& reduction = tree_.reductions.at({s.func, s.slots_of});
    Node node = sync_node(kind, kind == Kind::Await ? name(s) : "");
    node.sync.ring = reduction.ring;
    node.sync.bytes = kind == Kind::Arrive ? reduction.ring_bytes : 0;
    node.slot = reduction.ring->turn ? cast(Int(64), ir::make_var(reduction.ring->turn)) : ir::index(0);
    return node;
  }

  bool is_bulk(FuncId func) const { return tree_.ring_of.count(func) != 0; }

  bool any_in_groups(const Node& copies) const {
    return std::any_of(copies.children.begin(), copies.children.end(), [&](const Node& copy) {
      return copy.kind == NodeKind::Produce && !is_bulk(copy.func);
    });
  }

  const RingUse& ring_of(FuncId func) const { return tree_.rings[tree_.ring_of.at(func)]; }

  /// Of the bulk copies among them, which have one; null: there are none.
  const RingUse* ring_of(const Node& copies) const {
    for (const Node& copy : copies.children)
      if (copy.kind == NodeKind::Produce && is_bulk(copy.func)) return &ring_of(copy.func);
    return nullptr;
  }

  /// "A.in, B.in".
  std::string copied(const Node& ahead) const {
    std::string names;
    for (const Node& copy : ahead.children)
      if (copy.kind == NodeKind::Produce) names += (names.empty() ? "" : ", ") + tree_.func(copy.func).name;
    return names;
  }

  // ---- All else

  void visit_root(Node& node) {
    for (Node& child : node.children) {
      if (node.kind != NodeKind::Produce) {
        visit_root(child);
        continue;
      }
      if (sends_in_cluster(child)) begin_together(child);
      Pending nothing;
      sequence(child, nothing);
    }
  }

  // ---- Tensor cores

  /// Whether tensor cores read shared memory there: not by the way of the threads.
  static bool multiplies(const Node& node) {
    if (node.kind == NodeKind::Body && node.instruction)
      return instr::completes_as_product(*node.instruction);
    return std::any_of(node.children.begin(), node.children.end(), multiplies);
  }

  /// Whether the sums of a tile get their first values there.
  bool begins_sums(const Node& child) const {
    const StageRef first{child.stage.func, 0};
    const auto dealt = tree_.dealt_out.find(first);
    return is_thread_loop(child) && child.stage == first && dealt != tree_.dealt_out.end() &&
           dealt->second.of == first.func;
  }

  /// A tile's products are one group, which is waited for behind it. Its sums are in their registers before
  /// the first of them.
  void wait_for_products(Node& node) const {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      Node& child = node.children[i];
      if (begins_sums(child)) {
        node.children.insert(node.children.begin() + static_cast<std::ptrdiff_t>(++i),
                             sync_node(Kind::ProductFence));
        continue;
      }
      if (!is_thread_loop(child)) {
        wait_for_products(child);
        continue;
      }
      if (!multiplies(child)) continue;
      const auto at = node.children.begin() + static_cast<std::ptrdiff_t>(i);
      node.children.insert(at + 1, {sync_node(Kind::ProductCommit), sync_node(Kind::ProductWait)});
      node.children.insert(node.children.begin() + static_cast<std::ptrdiff_t>(i),
                           sync_node(Kind::ProductFence));
      i += 3;
    }
  }

  // ---- Roles

  void exchange(Node& node) const {
    if (node.kind == NodeKind::Role) return exchange_between_roles(tree_, node);
    for (Node& child : node.children) exchange(child);
  }

  /// What one role computes and another reads is between them: their rings order that.
  bool is_between_roles(FuncId func) const { return tree_.channel_of(func) != nullptr; }

  /// The warps of a role meet by themselves.
  ir::SyncInfo meeting(bool cluster, std::string reason) const {
    ir::SyncInfo sync{.kind = cluster ? Kind::Cluster : Kind::Block, .reason = std::move(reason)};
    if (!role_ || cluster) return sync;
    const KernelInfo& kernel = tree_.kernels.at(role_->stage);
    sync.kind = Kind::Some;
    sync.number = static_cast<int>(role_->count) + 1;
    sync.threads = static_cast<int>(kernel.roles[static_cast<std::size_t>(role_->count)].threads);
    return sync;
  }

  // ---- Clusters

  /// Whether blocks of a cluster write to each other's memory.
  bool sends_in_cluster(const Node& node) const {
    if (node.kind == NodeKind::Send) return tree_.reductions.at(node.stage).in_cluster();
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](const Node& child) { return sends_in_cluster(child); });
  }

  /// A block must run, and its rings be ready, before another one writes to its memory: each says so at once,
  /// and they wait for that as late as they can, but once.
  void begin_together(Node& node) const {
    for (Node& child : node.children)
      if (child.kind == NodeKind::Loop && tree_.loop(child.loop).binding == ir::Binding::GpuBlock)
        return begin_together(child);
    wait_for_others(node);
    node.children.insert(node.children.begin(), sync_node(Kind::ClusterArrive, "this block runs"));
  }

  void wait_for_others(Node& node) const {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      Node& child = node.children[i];
      if (!sends_in_cluster(child)) continue;
      const bool repeats = child.kind == NodeKind::Loop && runs_again(tree_, child.loop);
      if (child.kind != NodeKind::Send && !repeats) return wait_for_others(child);
      node.children.insert(node.children.begin() + static_cast<std::ptrdiff_t>(i),
                           sync_node(Kind::ClusterWait, "every block of the cluster runs"));
      return;
    }
  }

  void turn_rings(Node& node) const {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      turn_rings(node.children[i]);
      if (node.children[i].kind != NodeKind::Send) continue;
      const ThreadReduction& reduction = tree_.reductions.at(node.children[i].stage);
      if (!reduction.ring || !reduction.ring->turn) continue;
      Node turn = sync_node(Kind::Turn);
      turn.sync.ring = reduction.ring;
      node.children.insert(node.children.begin() + static_cast<std::ptrdiff_t>(i++), std::move(turn));
    }
  }

  /// Slots that blocks of a cluster write for each other and no ring counts: a barrier of the block alone
  /// does not order that.
  bool is_of_cluster(const Stored& s) const {
    if (s.slots_of < 0) return false;
    const ThreadReduction& reduction = tree_.reductions.at({s.func, s.slots_of});
    return reduction.in_cluster() && !reduction.ring;
  }

  /// The ring that counts what is stored; null: none does.
  ir::RingPtr counted_by(const Stored& s) const {
    if (s.slots_of >= 0) return tree_.reductions.at({s.func, s.slots_of}).ring;
    return is_bulk(s.func) ? ring_of(s.func).ring : nullptr;
  }

  /// What is left after a synchronisation.
  void pass(Pending& pending, const ir::SyncInfo& sync) const {
    std::erase_if(pending.started, [&](const Stored& s) {
      const ir::RingPtr ring = counted_by(s);
      const bool complete =
          ring ? sync.kind == Kind::Await && ring == sync.ring : sync.kind == Kind::Wait && sync.pending == 0;
      // What other blocks send is complete for all who have waited for it.
      if (complete && s.slots_of < 0) pending.written.insert(s);
      return complete;
    });
    if (sync.fence) pending.unfenced.clear();
    if (sync.kind == Kind::BoxesRead) {
      pending.read.insert(pending.leaving.begin(), pending.leaving.end());
      pending.leaving.clear();
    }
    const bool cluster = sync.kind == Kind::Cluster || sync.kind == Kind::ClusterWait;
    if (!is_of_block(sync) && !cluster) return;
    const auto stays = [&](const Stored& s) { return !cluster && is_of_cluster(s); };
    std::erase_if(pending.written, [&](const Stored& s) { return !stays(s); });
    std::erase_if(pending.read, [&](const Stored& s) { return !stays(s); });
  }

  /// All threads of the block meet, or all of the role's.
  static bool is_of_block(const ir::SyncInfo& sync) {
    return sync.kind == Kind::Block || sync.kind == Kind::Some;
  }

  bool is_bulk_slot(const Stored& s) const { return s.slots_of == -1 && is_bulk(s.func); }

  /// A barrier orders the threads' own accesses: the copy engine could still write over what they are about
  /// to have. Within the loop of a pipeline the barrier at its head is in front of all copies.
  void fence(ir::SyncInfo& sync, const Pending& pending) const {
    const bool meets = is_of_block(sync) || sync.kind == Kind::Cluster;
    const auto may_begin = [&](const Stored& s) { return ahead_.count(s.func) == 0; };
    sync.fence |= meets && std::any_of(pending.unfenced.begin(), pending.unfenced.end(), may_begin);
  }

  ir::MemorySpace space_of(FuncId func) const {
    const auto output = tree_.output_of.find(func);
    return output != tree_.output_of.end() ? output->second.front()->space
                                           : tree_.storage.at(func).buffers.front()->space;
  }

  bool is_shared(FuncId func) const { return space_of(func) == ir::MemorySpace::Shared; }

  /// Memory of all, where stages of several Funcs run in one kernel. What is read of it is never written
  /// again, unless it is a scan's: that is a condition of sharing loops.
  bool is_of_all(FuncId func) const {
    const ir::MemorySpace space = space_of(func);
    return (space == ir::MemorySpace::Global || space == ir::MemorySpace::Argument) &&
           sharing(tree_.scheduled, func).size() > 1;
  }

  /// A scan of which the last values alone are held writes over others.
  bool is_ring(FuncId func) const {
    const auto storage = tree_.storage.find(func);
    return storage != tree_.storage.end() && storage->second.scan.has_value();
  }

  bool is_thread_loop(const Node& node) const {
    return node.kind == NodeKind::Loop && tree_.loop(node.loop).binding == ir::Binding::GpuThread;
  }

  /// One nest run by the threads with nothing of the block's order inside: a thread loop, or a body with its
  /// loops.
  bool is_leaf(const Node& node) const {
    if (node.kind == NodeKind::Body || node.kind == NodeKind::Send || node.kind == NodeKind::Combine ||
        node.kind == NodeKind::Publish)
      return true;
    if (is_thread_loop(node)) return !has_reduction(node);
    if (node.kind != NodeKind::Loop) return false;
    return node.children.size() == 1 && is_leaf(node.children[0]);
  }

  /// Whether threads meet inside: then its loops over threads are run by all of them.
  static bool has_reduction(const Node& node) {
    return node.kind == NodeKind::Reduce ||
           std::any_of(node.children.begin(), node.children.end(), has_reduction);
  }

  Pending accesses(const Node& leaf) const {
    Pending result;
    visit(leaf, [&](const Node& node, const std::vector<const Node*>&) {
      if (node.kind == NodeKind::Send)
        (tree_.reductions.at(node.stage).ring ? result.started : result.written)
            .insert({node.stage.func, node.stage.stage});
      if (node.kind == NodeKind::Combine && tree_.reductions.at(node.stage).exchanges())
        result.read.insert({node.stage.func, node.stage.stage});
      if (node.kind == NodeKind::Publish) result.written.insert({node.stage.func, kPublished});
      if (node.kind != NodeKind::Body) return;
      require_ordered(*node.instruction, node.stage);
      const bool leaves = instr::completes_as_boxes(*node.instruction);
      result.past_threads |= leaves || instr::completes_as_product(*node.instruction);
      const bool later = completes_later(*node.instruction);
      if (is_between_roles(node.stage.func)) return;
      if (is_shared(node.stage.func) || is_of_all(node.stage.func))
        (later ? result.started : result.written).insert({node.stage.func});
      for (const Expr& call : calls_in(tree_.def(node.stage))) {
        const ir::Callee& callee = *ir::callee_of(call);
        if (callee.kind != ir::CalleeKind::Func) continue;
        const FuncId read{callee.index};
        if (is_between_roles(read)) continue;
        if (tree_.conversion(node.stage, read) == Conversion::Shared) result.read.insert({read, kPublished});
        if (leaves) result.leaving.insert({read});
        if (read != node.stage.func && (is_shared(read) || is_of_all(read))) result.read.insert({read});
      }
    });
    return result;
  }

  static bool completes_later(const instr::Instruction& instruction) {
    return instr::completes_by_group(instruction) || instr::completes_by_transaction(instruction);
  }

  // A barrier orders instructions that complete in program order, or that have been waited for.
  void require_ordered(const instr::Instruction& instruction, StageRef stage) const {
    const bool waited_for = completes_later(instruction) || instr::completes_as_product(instruction) ||
                            instr::completes_as_boxes(instruction);
    if (waited_for || instr::ordered_by_barrier(instruction, instruction)) return;
    throw Error({.kind = ErrorKind::Internal,
                 .message = "a block barrier does not order instruction '" + instruction.name + "'",
                 .func = tree_.func(stage.func).name});
  }

  struct Conflict {
    std::string reason;  ///< empty: none
    bool cluster = false;
  };

  /// One that the blocks of a cluster have goes before others, whose barrier serves both.
  Conflict conflict(const Pending& pending, const Pending& next) const {
    for (const bool cluster : {true, false}) {
      Pending part = next;
      part.keep_only([&](const Stored& s) { return is_of_cluster(s) == cluster; });
      if (std::string reason = conflict_of(pending, part); !reason.empty())
        return {std::move(reason), cluster};
    }
    return {};
  }

  std::string conflict_of(const Pending& pending, const Pending& next) const {
    const auto stored = [&](const Stored& s) {
      return pending.written.count(s) > 0 || pending.started.count(s) > 0;
    };
    for (const Stored& s : next.read)
      if (stored(s)) return fmt::format("{} complete before {} read", are(s), it(s));
    for (const std::set<Stored>* stores : {&next.written, &next.started})
      for (const Stored& s : *stores) {
        if (s.slots_of == -1 && !is_shared(s.func) && !is_ring(s.func)) continue;
        if (pending.read.count(s) && is_of_cluster(s))
          return fmt::format("every block of the cluster runs, and has room for {}", name(s));
        if (pending.read.count(s) || pending.leaving.count(s) || pending.unfenced.count(s))
          return fmt::format("{} been read before {} written again", have(s), it(s));
        if (stored(s)) return fmt::format("{} complete before {} updated", are(s), it(s));
      }
    return "";
  }

  // "total is", "the partial results of total are"; "it is", "they are".
  std::string name(const Stored& s) const {
    return (s.slots_of < 0 ? "" : "the partial results of ") + tree_.func(s.func).name;
  }
  std::string are(const Stored& s) const { return name(s) + (s.slots_of < 0 ? " is" : " are"); }
  std::string have(const Stored& s) const { return name(s) + (s.slots_of < 0 ? " has" : " have"); }
  static const char* it(const Stored& s) { return s.slots_of < 0 ? "it is" : "they are"; }

  /// What waits for the copies that have been started and that what is next needs.
  std::vector<Node> waits(const Pending& pending, const Pending& next) const {
    bool groups = false;
    std::vector<Node> all;
    std::set<ir::RingPtr> rings;
    for (const Stored& s : pending.started) {
      if (!next.read.count(s) && !next.written.count(s) && !next.started.count(s)) continue;
      const ir::RingPtr ring = counted_by(s);
      groups |= !ring;
      if (!ring || !rings.insert(ring).second) continue;
      for (const Kind kind : {Kind::Arrive, Kind::Await})
        all.push_back(s.slots_of < 0 ? ring_node(kind, ring_of(s.func)) : sent_node(kind, s));
    }
    if (groups) {
      all.insert(all.begin(), sync_node(Kind::Wait));
      all.insert(all.begin(), sync_node(Kind::Commit));
    }
    if (const auto left = boxes_left(pending, next)) all.push_back(sync_node(Kind::BoxesRead, {}, *left));
    return all;
  }

  /// Of what is written next boxes are on their way out: how many groups of them may be left.
  std::optional<int> boxes_left(const Pending& pending, const Pending& next) const {
    std::optional<int> left;
    for (const Stored& s : pending.leaving) {
      if (!next.written.count(s) && !next.started.count(s)) continue;
      left = std::min(left.value_or(std::numeric_limits<int>::max()), groups_left(s.func));
    }
    return left;
  }

  /// Each turn of a ring's slots is one group, if it goes on where it has ended.
  int groups_left(FuncId func) const {
    const Storage& storage = tree_.storage.at(func);
    const std::vector<LoopId> loops = site_loops(tree_, tree_.scheduled.of(func).store);
    const std::optional<std::int64_t> turns =
        loops.empty() ? std::nullopt
                      : ir::as_int(ir::simplify(tree_.loop(loops.front()).extent, tree_.facts));
    const bool goes_on = turns && *turns % storage.copies == 0;
    return goes_on ? static_cast<int>(storage.copies) - 1 : 0;
  }

  /// The synchronisation that what is next needs, in front of position `i`; returns how many nodes it takes.
  std::size_t synchronise(Node& node, std::size_t i, Pending& pending, const Pending& next) {
    const Conflict found = conflict(pending, next);
    if (found.reason.empty()) return 0;
    std::vector<Node> all = waits(pending, next);
    for (const Node& sync : all) pass(pending, sync.sync);
    if (all.empty() || !conflict(pending, next).reason.empty()) {
      all.push_back(sync_node(Kind::Block));
      all.back().sync = meeting(found.cluster, found.reason);
      all.back().sync.fence = next.past_threads;
      fence(all.back().sync, pending);
      pass(pending, all.back().sync);
    }
    const std::size_t count = all.size();
    node.children.insert(node.children.begin() + static_cast<std::ptrdiff_t>(i),
                         std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
    return count;
  }

  /// What a pipeline starts before its loop: the slots are apart, and the loop waits for each.
  Pending all_accesses(const Node& first) const {
    Pending all;
    for (const Node& child : first.children)
      if (child.kind == NodeKind::Produce) all.merge(accesses(child));
    return all;
  }

  /// Walk a node in order, placing barriers in front of leaves that conflict; `pending` is updated.
  void sequence(Node& node, Pending& pending) {
    if (is_leaf(node)) {
      Pending own = accesses(node);
      std::copy_if(own.read.begin(), own.read.end(), std::inserter(own.unfenced, own.unfenced.end()),
                   [&](const Stored& s) { return is_bulk_slot(s); });
      pending.merge(own);
      return;
    }
    const std::set<FuncId> ahead = ahead_;
    for (const Node& child : node.children)
      if (child.kind == NodeKind::Ahead)
        for (const Node& copy : child.children)
          if (copy.kind == NodeKind::Produce) ahead_.insert(copy.func);
    const bool repeats = node.kind == NodeKind::Loop && runs_again(tree_, node.loop);
    const Pending before = pending;
    children(node, pending);
    if (repeats) {
      // The next iteration starts with what this one left; a barrier it needs serves the first one too.
      children(node, pending);
      pending.merge(before);  // the loop may run no iteration
    }
    ahead_ = ahead;
  }

  void children(Node& node, Pending& pending) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      switch (node.children[i].kind) {
        case NodeKind::Sync:
          fence(node.children[i].sync, pending);
          pass(pending, node.children[i].sync);
          break;
        case NodeKind::Ahead:  // into a slot that nobody reads meanwhile
        case NodeKind::Behind:
        case NodeKind::Last:
          break;
        case NodeKind::Role:
          of_role(node.children[i]);
          break;
        case NodeKind::First:
          i += synchronise(node, i, pending, all_accesses(node.children[i]));
          break;
        default:
          if (is_leaf(node.children[i])) i += synchronise(node, i, pending, accesses(node.children[i]));
          sequence(node.children[i], pending);
      }
    }
  }

  /// Roles share nothing but what is between them.
  void of_role(Node& role) {
    role_ = &role;
    Pending pending;
    sequence(role, pending);
    if (!tree_.schedule_of(role.stage).persistent_origin.empty()) sequence(role, pending);  // the next tile
    role_ = nullptr;
  }

  LoopTree& tree_;
  const Node* role_ = nullptr;  ///< whose part is at hand; null: the block's
  std::set<FuncId> ahead_;      ///< that loops around have copied ahead
};

}  // namespace

void place_barriers(LoopTree& tree) {
  if (tree.scheduled.target.is_gpu()) Barriers(tree).run();
}

}  // namespace calotype::lower
