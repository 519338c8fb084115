// Pipeline: which engine runs each statement of a loop body, and with what skew.
//
// Requires: tiles. Leaves: an instruction record at every body; the rings that count bulk copies; where a
// loop is a software pipeline, the productions of its copies in First and Ahead nodes, and the slot of the
// ring named at the head of the loop. Refuses asynchronous copies that are none. Stands before memory, which
// multiplies what is in a ring, and before sync, which waits for what these nodes start.

#include <fmt/format.h>

#include <algorithm>

#include "lower/passes.h"
#include "lower/split_roles.h"

namespace calotype::lower {
namespace {

// ---- Instructions

[[noreturn]] void refuse_copy(const LoopTree& tree, FuncId func, std::string message, std::string value,
                              std::string legal) {
  throw Error({.kind = ErrorKind::Schedule,
               .message = std::move(message),
               .func = tree.func(func).name,
               .directive = tree.scheduled.of(func).copy_origin,
               .value = std::move(value),
               .legal = std::move(legal)});
}

/// An asynchronous copy reads memory that the kernel does not write, and changes nothing on its way.
void check_copy(const LoopTree& tree, StageRef stage) {
  const Expr& value = tree.def(stage).value;
  const std::string& name = tree.func(stage.func).name;
  if (!ir::is(value, ir::Op::Call))
    refuse_copy(tree, stage.func,
                fmt::format("'{}' computes {}, and an asynchronous copy changes nothing on its way", name,
                            ir::to_string(value)),
                ir::to_string(value),
                "copy(threads); or a plain copy by in(), and the rest in what reads it");
  for (const Guard& g : tree.stages.at(stage).guards)
    if (g.tail == Tail::PredicateLoads)
      refuse_copy(
          tree, stage.func,
          fmt::format("{} stores elements that it does not load, and an asynchronous copy loads all that "
                      "it stores",
                      g.origin),
          "predicate_loads", "another tail, as guard or predicate; or copy(threads)");
  const ir::Callee& callee = *ir::callee_of(value);
  if (callee.kind == ir::CalleeKind::Input) return;
  const FuncId source{callee.index};
  if (tree.scheduled.of(source).compute.kind != schedule::Place::Kind::Root)
    refuse_copy(tree, stage.func,
                fmt::format("'{}' reads '{}', which is computed inside the same kernel", name, callee.name),
                callee.name, fmt::format("copy(threads); or compute_root on '{}'", callee.name));
  if (sharing(tree.scheduled, source).size() > 1)
    refuse_copy(tree, stage.func,
                fmt::format("'{}' reads '{}', which shares a kernel with other Funcs", name, callee.name),
                callee.name, fmt::format("copy(threads); or no compute_with on '{}'", callee.name));
}

/// Nothing of a box is left out but what lies past its end.
void check_box(const LoopTree& tree, StageRef stage) {
  const Expr& condition = tree.def(stage).predicate;
  if (!condition.defined()) return;
  refuse_copy(tree, stage.func,
              fmt::format("'{}' is defined under the condition {}, and boxes are copied whole",
                          tree.func(stage.func).name, ir::to_string(condition)),
              ir::to_string(condition), "copy(async); or a definition without a condition");
}

/// Boxes of an output are sent as they lie in shared memory.
void check_sent(const LoopTree& tree, StageRef stage) {
  const Expr& value = tree.def(stage).value;
  const std::string& name = tree.func(stage.func).name;
  const bool copies = ir::is(value, ir::Op::Call) && ir::callee_of(value)->kind == ir::CalleeKind::Func &&
                      tree.scheduled.of(FuncId{ir::callee_of(value)->index}).memory == Memory::Shared;
  if (copies) return;
  refuse_copy(tree, stage.func,
              fmt::format("'{}' is {}, and no copy of a Func in shared memory", name, ir::to_string(value)),
              ir::to_string(value),
              fmt::format("stage_out({0}), and store_in(shared) on '{0}.staged'", name));
}

void assign_instructions(const LoopTree& tree, Node& node) {
  if (node.kind == NodeKind::Body && !node.instruction && tree.scheduled.sends_boxes(node.stage.func)) {
    check_sent(tree, node.stage);
    check_box(tree, node.stage);
    node.instruction = &instr::tensor_store();
  } else if (node.kind == NodeKind::Body && !node.instruction) {
    const Copy how = tree.scheduled.of(node.stage.func).copy;
    if (how != Copy::Threads) check_copy(tree, node.stage);
    if (how == Copy::Tma) check_box(tree, node.stage);
    node.instruction = how == Copy::Async  ? &instr::async_copy()
                       : how == Copy::Bulk ? &instr::bulk_copy()
                       : how == Copy::Tma  ? &instr::tensor_copy()
                                           : &instr::element();
  }
  for (Node& child : node.children) assign_instructions(tree, child);
}

// ---- Software pipelines

class Pipelines {
 public:
  explicit Pipelines(LoopTree& tree) : tree_(tree) {}

  void run(Node& node) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      run(node.children[i]);
      if (node.children[i].kind != NodeKind::Loop) continue;
      const schedule::SoftwarePipeline* pipeline = pipeline_of(node.children[i]);
      if (!pipeline || !has_copies(node.children[i], pipeline->loop)) continue;
      Node first = start(node.children[i], *pipeline);
      node.children.insert(node.children.begin() + static_cast<std::ptrdiff_t>(i), std::move(first));
      ++i;
    }
  }

 private:
  const schedule::SoftwarePipeline* pipeline_of(const Node& loop) const {
    for (const schedule::SoftwarePipeline& p : tree_.schedule_of(loop.stage).pipelines)
      if (p.loop == loop.loop) return &p;
    return nullptr;
  }

  /// Takes the copies out of the body and puts them at its head, ahead of it; returns those of the first
  /// iterations.
  Node start(Node& loop, const schedule::SoftwarePipeline& pipeline) {
    Node ahead{.kind = NodeKind::Ahead, .stage = loop.stage, .loop = loop.loop, .count = pipeline.depth - 1};
    take_copies(loop, pipeline.loop, ahead.children);
    for (const Node& copy : ahead.children) check_ahead(copy.func, pipeline);
    for (const Node& copy : ahead.children) name_slot(tree_, loop.loop, tree_.storage.at(copy.func));
    make_ring(tree_.loop(loop.loop).name, pipeline.depth, ahead.children);
    Node first = ahead;
    first.kind = NodeKind::First;
    loop.children.insert(loop.children.begin(), std::move(ahead));
    return first;
  }

  /// The productions of what is copied at the loop, which stand in it inside realisations alone.
  void take_copies(Node& node, LoopId loop, std::vector<Node>& copies) {
    for (std::size_t i = 0; i < node.children.size();) {
      Node& child = node.children[i];
      if (child.kind == NodeKind::Realize) take_copies(child, loop, copies);
      const bool copy = child.kind == NodeKind::Produce && is_copied_at(child.func, loop);
      if (copy) {
        copies.push_back(std::move(child));
        node.children.erase(node.children.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  /// What a copy reads, its coordinates as well, is there before the iteration that it is for.
  void check_ahead(FuncId func, const schedule::SoftwarePipeline& pipeline) const {
    for (const Expr& call : calls_in(tree_.def({func, 0}))) {
      const ir::Callee& callee = *ir::callee_of(call);
      if (callee.kind == ir::CalleeKind::Input) continue;
      const std::vector<LoopId> loops = site_loops(tree_, tree_.scheduled.of(FuncId{callee.index}).compute);
      if (std::find(loops.begin(), loops.end(), pipeline.loop) == loops.end()) continue;
      throw Error(
          {.kind = ErrorKind::Schedule,
           .message = fmt::format("'{}' reads '{}', which is computed in the iteration that the copy is "
                                  "to run ahead of",
                                  tree_.func(func).name, callee.name),
           .func = tree_.func(func).name,
           .directive = pipeline.origin,
           .value = callee.name,
           .legal = fmt::format("'{}' computed outside '{}', or no pipeline", callee.name,
                                tree_.loop(pipeline.loop).name)});
    }
  }

  /// Some that another role does not run ahead by itself.
  bool has_copies(const Node& node, LoopId loop) const {
    return std::any_of(node.children.begin(), node.children.end(), [&](const Node& child) {
      return child.kind == NodeKind::Realize
                 ? has_copies(child, loop)
                 : child.kind == NodeKind::Produce && is_copied_at(child.func, loop);
    });
  }

  bool is_copied_at(FuncId func, LoopId loop) const {
    const schedule::FuncSchedule& sched = tree_.scheduled.of(func);
    return !tree_.channel_of(func) && sched.copy != Copy::Threads &&
           sched.compute.kind == schedule::Place::Kind::At && sched.compute.loop == loop;
  }

  /// One for all bulk copies of an iteration.
  void make_ring(const std::string& loop, std::int64_t depth, const std::vector<Node>& copies) {
    for (const Node& copy : copies) {
      if (!schedule::is_counted(tree_.scheduled.of(copy.func).copy)) continue;
      const Expr& slot = tree_.storage.at(copy.func).copy;
      if (tree_.rings.empty() || !ir::equal(tree_.rings.back().slot, slot))
        tree_.rings.push_back({loop + ".full", static_cast<int>(depth), slot, nullptr});
      tree_.ring_of[copy.func] = tree_.rings.size() - 1;
    }
  }

  LoopTree& tree_;
};

/// Of copies that run in the iteration that reads them, each Func's by itself.
void make_single_rings(LoopTree& tree, const Node& node) {
  if (node.kind == NodeKind::Body && instr::completes_by_transaction(*node.instruction) &&
      tree.ring_of.emplace(node.stage.func, tree.rings.size()).second)
    tree.rings.push_back({tree.func(node.stage.func).name + ".full", 1, ir::index(0), nullptr});
  for (const Node& child : node.children) make_single_rings(tree, child);
}

}  // namespace

void schedule_pipeline(LoopTree& tree) {
  assign_instructions(tree, tree.root);
  split_roles(tree);
  Pipelines(tree).run(tree.root);
  make_single_rings(tree, tree.root);
}

}  // namespace calotype::lower
