// Placement: the loop tree's shape, from where each Func is computed and stored.
//
// Requires: inlined definitions. Leaves: a tree with every loop, body, production and realisation at its
// place; loops have no extents yet. Funcs that share loops have one production. Consumers are placed before
// their producers, so the loop that a producer is computed at exists; a later production goes in front of
// everything already at its site.

#include <algorithm>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

Node loop_nest(const LoopTree& tree, StageRef stage) {
  Node node{.kind = NodeKind::Body, .stage = stage};
  for (LoopId loop : tree.schedule_of(stage).loops) {
    Node outer{.kind = NodeKind::Loop, .stage = stage, .loop = loop};
    outer.children.push_back(std::move(node));
    node = std::move(outer);
  }
  return node;
}

Node production(const LoopTree& tree, FuncId func) {
  Node produce{.kind = NodeKind::Produce, .func = func};
  int stages = static_cast<int>(tree.func(func).stages.size());
  for (int s = 0; s < stages; ++s) produce.children.push_back(loop_nest(tree, {func, s}));
  return produce;
}

Node* find_loop(Node& node, LoopId loop) {
  if (node.kind == NodeKind::Loop && node.loop == loop) return &node;
  for (Node& child : node.children)
    if (Node* found = find_loop(child, loop)) return found;
  return nullptr;
}

Node& site(LoopTree& tree, const schedule::Place& place, FuncId func) {
  if (place.kind != schedule::Place::Kind::At) return tree.root;
  if (Node* node = find_loop(tree.root, place.loop)) return *node;
  throw Error({.kind = ErrorKind::Internal,
               .message = "the loop that a Func is computed or stored at is not in the loop tree",
               .func = tree.func(func).name});
}

/// Funcs of one nest, or one alone.
void produce(LoopTree& tree, const std::vector<FuncId>& funcs) {
  Node& compute = site(tree, tree.scheduled.of(funcs.front()).compute, funcs.front());
  std::vector<Node> productions;
  for (FuncId func : funcs) productions.push_back(production(tree, func));
  Node node = funcs.size() == 1 ? std::move(productions.front()) : share_nests(tree, std::move(productions));
  compute.children.insert(compute.children.begin(), std::move(node));
}

void realize(LoopTree& tree, FuncId func) {
  const schedule::FuncSchedule& schedule = tree.scheduled.of(func);
  if (tree.scheduled.graph.is_output(func)) return;
  Node& store = site(tree, schedule.hoist, func);
  Node realize{.kind = NodeKind::Realize, .func = func};
  realize.children = std::move(store.children);
  store.children.clear();
  store.children.push_back(std::move(realize));
}

/// Whether a Func in registers of a block (or thread) is made of inputs alone.
bool loads_registers(const LoopTree& tree, FuncId id) {
  const schedule::FuncSchedule& schedule = tree.scheduled.of(id);
  if (schedule.memory != Memory::Register || sharing(tree.scheduled, id).size() > 1) return false;
  const std::vector<lang::StageDef>& stages = tree.func(id).stages;
  return stages.size() == 1 && !stages.front().function() &&
         !ir::any_of(stages.front().value, [](const Expr& e) {
           return ir::is(e, ir::Op::Call) && ir::callee_of(e)->kind == ir::CalleeKind::Func;
         });
}

/// Producers before consumers, and first of all what loads inputs into registers: at each place all such
/// loads are then under way before the first barrier.
std::vector<FuncId> loads_first(const LoopTree& tree) {
  std::vector<FuncId> order = tree.scheduled.order;
  std::stable_partition(order.begin(), order.end(), [&](FuncId id) { return loads_registers(tree, id); });
  return order;
}

}  // namespace

LoopTree place(Scheduled scheduled, const Options& options) {
  LoopTree tree;
  tree.scheduled = std::move(scheduled);
  tree.root.kind = NodeKind::Root;
  tree.unit_strides = options.unit_strides;
  tree.loops.resize(tree.scheduled.loops.size());
  for (std::size_t i = 0; i < tree.loops.size(); ++i) {
    const schedule::Loop& loop = tree.scheduled.loops[i];
    tree.loops[i].name = loop.name;
    tree.loops[i].binding = loop.binding;
    tree.loops[i].axis = loop.axis;
    tree.loops[i].part = loop.part;
    tree.loops[i].reduction = loop.reduction;
    tree.loops[i].origin = loop.origin;
    tree.loops[i].partition = loop.partition;
    tree.loops[i].partition_origin = loop.partition_origin;
  }
  for (const schedule::SharedNest& nest : tree.scheduled.shared)
    for (const auto& [own, shared] : nest.loops) tree.loop(shared).sharers.push_back({nest.func, nest.stage});
  order_sharing(tree.scheduled);
  const std::vector<FuncId> order = loads_first(tree);
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (tree.inlined(*it)) continue;
    const std::vector<FuncId> funcs = sharing(tree.scheduled, *it);
    if (funcs.back() != *it) continue;  // the last one stands for all
    produce(tree, funcs);
    for (auto func = funcs.rbegin(); func != funcs.rend(); ++func) realize(tree, *func);
  }
  return tree;
}

}  // namespace calotype::lower
