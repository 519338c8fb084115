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

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "lower/passes.h"

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
    visit_root(tree_.root);
  }

 private:
  // ---- Software pipelines

  using Kind = ir::SyncInfo::Kind;

  void place_of_pipelines(Node& node) {
    for (Node& child : node.children) place_of_pipelines(child);
    if (node.kind == NodeKind::First) node.children.push_back(sync_node(Kind::Commit));
    if (node.kind != NodeKind::Loop || node.children.empty() || node.children.front().kind != NodeKind::Ahead)
      return;
    const Node& ahead = node.children.front();
    const std::string names = copied(ahead);
    std::vector<Node> head;
    head.push_back(sync_node(Kind::Wait, "for this iteration's " + names, static_cast<int>(ahead.count) - 1));
    head.push_back(sync_node(Kind::Block, names + " complete; the slot of the last iteration has been read"));
    node.children.insert(node.children.begin() + 1, sync_node(Kind::Commit));
    node.children.insert(node.children.begin(), std::make_move_iterator(head.begin()),
                         std::make_move_iterator(head.end()));
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
      // A block must run before another one writes to its memory.
      Pending first;
      for (const auto& [stage, reduction] : tree_.reductions)
        if (reduction.in_cluster()) first.read.insert({stage.func, stage.stage});
      sequence(child, first);
    }
  }

  /// Slots that blocks of a cluster write for each other: a barrier of the block alone does not order that.
  bool is_of_cluster(const Stored& s) const {
    return s.slots_of >= 0 && tree_.reductions.at({s.func, s.slots_of}).in_cluster();
  }

  /// What is left after a synchronisation.
  void pass(Pending& pending, const ir::SyncInfo& sync) const {
    if (sync.kind == Kind::Wait && sync.pending == 0) {
      pending.written.insert(pending.started.begin(), pending.started.end());
      pending.started.clear();
    }
    if (sync.kind != Kind::Block && sync.kind != Kind::Cluster) return;
    const auto stays = [&](const Stored& s) { return sync.kind == Kind::Block && is_of_cluster(s); };
    std::erase_if(pending.written, [&](const Stored& s) { return !stays(s); });
    std::erase_if(pending.read, [&](const Stored& s) { return !stays(s); });
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

  /// Whether a block runs more than one iteration of a loop.
  bool runs_again(LoopId id) const {
    const LoopInfo& loop = tree_.loop(id);
    switch (loop.binding) {
      case ir::Binding::GpuThread:
      case ir::Binding::GpuCluster:
        return false;
      case ir::Binding::GpuBlock:
        return !tree_.schedule_of(loop.owner).persistent_origin.empty();
      default:
        return !ir::is_one(ir::simplify(loop.extent, tree_.facts));
    }
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
      if (node.kind == NodeKind::Send) result.written.insert({node.stage.func, node.stage.stage});
      if (node.kind == NodeKind::Combine && tree_.reductions.at(node.stage).exchanges())
        result.read.insert({node.stage.func, node.stage.stage});
      if (node.kind == NodeKind::Publish) result.written.insert({node.stage.func, kPublished});
      if (node.kind != NodeKind::Body) return;
      require_ordered(*node.instruction, node.stage);
      const bool later = instr::completes_by_group(*node.instruction);
      if (is_shared(node.stage.func) || is_of_all(node.stage.func))
        (later ? result.started : result.written).insert({node.stage.func});
      for (const Expr& call : calls_in(tree_.def(node.stage))) {
        const ir::Callee& callee = *ir::callee_of(call);
        if (callee.kind != ir::CalleeKind::Func) continue;
        const FuncId read{callee.index};
        if (tree_.conversion(node.stage, read) == Conversion::Shared) result.read.insert({read, kPublished});
        if (read != node.stage.func && (is_shared(read) || is_of_all(read))) result.read.insert({read});
      }
    });
    return result;
  }

  // A barrier orders instructions that complete in program order, or by a group that has been waited for.
  void require_ordered(const instr::Instruction& instruction, StageRef stage) const {
    if (instr::completes_by_group(instruction) || instr::ordered_by_barrier(instruction, instruction)) return;
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
        if (pending.read.count(s)) return fmt::format("{} been read before {} written again", have(s), it(s));
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

  /// Whether what is next needs copies that have been started.
  static bool needs_copies(const Pending& pending, const Pending& next) {
    const auto meets = [&](const std::set<Stored>& all) {
      return std::any_of(all.begin(), all.end(),
                         [&](const Stored& s) { return pending.started.count(s) != 0; });
    };
    return meets(next.read) || meets(next.written) || meets(next.started);
  }

  /// The synchronisation that what is next needs, in front of position `i`; returns how many nodes it takes.
  std::size_t synchronise(Node& node, std::size_t i, Pending& pending, const Pending& next) {
    const Conflict found = conflict(pending, next);
    if (found.reason.empty()) return 0;
    std::vector<Node> all;
    if (needs_copies(pending, next)) {
      all.push_back(sync_node(Kind::Commit));
      all.push_back(sync_node(Kind::Wait));
    }
    all.push_back(sync_node(found.cluster ? Kind::Cluster : Kind::Block, found.reason));
    for (const Node& sync : all) pass(pending, sync.sync);
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
      pending.merge(accesses(node));
      return;
    }
    const bool repeats = node.kind == NodeKind::Loop && runs_again(node.loop);
    const Pending before = pending;
    children(node, pending);
    if (!repeats) return;
    // The next iteration starts with what this one left; a barrier it needs serves the first one too.
    Pending again = pending;
    children(node, again);
    pending = again;
    pending.merge(before);  // the loop may run no iteration
  }

  void children(Node& node, Pending& pending) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      switch (node.children[i].kind) {
        case NodeKind::Sync:
          pass(pending, node.children[i].sync);
          break;
        case NodeKind::Ahead:
          break;  // into a slot that nobody reads meanwhile
        case NodeKind::First:
          i += synchronise(node, i, pending, all_accesses(node.children[i]));
          break;
        default:
          if (is_leaf(node.children[i])) i += synchronise(node, i, pending, accesses(node.children[i]));
          sequence(node.children[i], pending);
      }
    }
  }

  LoopTree& tree_;
};

}  // namespace

void place_barriers(LoopTree& tree) {
  if (tree.scheduled.target.is_gpu()) Barriers(tree).run();
}

}  // namespace calotype::lower
