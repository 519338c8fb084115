// Sync: the only pass that places barriers.
//
// Requires: memory. Leaves: Sync nodes between nests of a block where one thread may touch what another one
// does: a read after a write, a write after a read, a write after a write of the same shared storage with no
// barrier between, around loops' back edges too; and of global storage, where stages of several Funcs share a
// kernel. What a barrier orders comes from the access tables of
// instruction records. Accesses of a stage to its own element are its thread's alone and need none. Nothing
// to do on the host.

#include <fmt/format.h>

#include <set>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

/// Shared storage touched since the last barrier.
struct Pending {
  std::set<FuncId> written, read;
  bool operator==(const Pending&) const = default;
  void merge(const Pending& other) {
    written.insert(other.written.begin(), other.written.end());
    read.insert(other.read.begin(), other.read.end());
  }
};

class Barriers {
 public:
  explicit Barriers(LoopTree& tree) : tree_(tree) {}

  void run() { visit_root(tree_.root); }

 private:
  void visit_root(Node& node) {
    for (Node& child : node.children) {
      if (node.kind != NodeKind::Produce) {
        visit_root(child);
        continue;
      }
      Pending none;
      sequence(child, none);
    }
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
    return loop.binding != ir::Binding::GpuBlock || !tree_.schedule_of(loop.owner).persistent_origin.empty();
  }

  bool is_thread_loop(const Node& node) const {
    return node.kind == NodeKind::Loop && tree_.loop(node.loop).binding == ir::Binding::GpuThread;
  }

  /// One nest run by the threads with nothing of the block's order inside: a thread loop, or a body with its
  /// loops.
  bool is_leaf(const Node& node) const {
    if (node.kind == NodeKind::Body || is_thread_loop(node)) return true;
    if (node.kind != NodeKind::Loop) return false;
    return node.children.size() == 1 && is_leaf(node.children[0]);
  }

  Pending accesses(const Node& leaf) const {
    Pending result;
    visit(leaf, [&](const Node& node, const std::vector<const Node*>&) {
      if (node.kind != NodeKind::Body) return;
      require_ordered(*node.instruction, node.stage);
      if (is_shared(node.stage.func) || is_of_all(node.stage.func)) result.written.insert(node.stage.func);
      for (const Expr& call : calls_in(tree_.def(node.stage))) {
        const ir::Callee& callee = *ir::callee_of(call);
        if (callee.kind != ir::CalleeKind::Func) continue;
        const FuncId read{callee.index};
        if (read != node.stage.func && (is_shared(read) || is_of_all(read))) result.read.insert(read);
      }
    });
    return result;
  }

  // A barrier orders instructions that complete in program order and nothing else.
  void require_ordered(const instr::Instruction& instruction, StageRef stage) const {
    if (instr::ordered_by_barrier(instruction, instruction)) return;
    throw Error({.kind = ErrorKind::Internal,
                 .message = "a block barrier does not order instruction '" + instruction.name + "'",
                 .func = tree_.func(stage.func).name});
  }

  std::string conflict(const Pending& pending, const Pending& next) const {
    for (FuncId f : next.read)
      if (pending.written.count(f))
        return fmt::format("{} is complete before it is read", tree_.func(f).name);
    for (FuncId f : next.written) {
      if (!is_shared(f) && !is_ring(f)) continue;
      if (pending.read.count(f))
        return fmt::format("{} has been read before it is written again", tree_.func(f).name);
      if (pending.written.count(f))
        return fmt::format("{} is complete before it is updated", tree_.func(f).name);
    }
    return "";
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
      Node& child = node.children[i];
      if (child.kind == NodeKind::Sync) {
        pending = {};
        continue;
      }
      if (is_leaf(child)) {
        const std::string reason = conflict(pending, accesses(child));
        if (!reason.empty()) {
          node.children.insert(node.children.begin() + i, Node{.kind = NodeKind::Sync, .reason = reason});
          pending = {};
          continue;
        }
      }
      sequence(child, pending);
    }
  }

  LoopTree& tree_;
};

}  // namespace

void place_barriers(LoopTree& tree) {
  if (tree.scheduled.target.is_gpu()) Barriers(tree).run();
}

}  // namespace calotype::lower
