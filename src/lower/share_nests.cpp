// Shared nests: stages of several Funcs in one nest of loops, as compute_with asks.
//
// Used by placement. Requires: SharedNest entries whose loops are paired from the outermost in, of Funcs
// computed at one place. Leaves: an order of the Funcs in which those that share loops stand together, and
// for each such group one production, whose nests hold the bodies of several stages in the order of the
// directives. The nests themselves are ordered so that every stage finds what it reads; what a nest does
// inside is checked when its ranges are known.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

using schedule::SharedNest;

std::string name_of(const Scheduled& scheduled, StageRef ref) {
  return lang::stage_name(scheduled.graph.func(ref.func), ref.stage);
}

[[noreturn]] void refuse(const Scheduled& scheduled, const SharedNest& nest, std::string message,
                         std::string legal) {
  throw Error({.kind = ErrorKind::Schedule,
               .message = std::move(message),
               .func = scheduled.graph.func(nest.func).name,
               .stage = name_of(scheduled, {nest.func, nest.stage}),
               .directive = nest.origin,
               .value = name_of(scheduled, {nest.with, nest.with_stage}),
               .legal = std::move(legal)});
}

/// The other Funcs with loops that the definitions of one read.
std::vector<FuncId> sources(const Scheduled& scheduled, FuncId func) {
  std::vector<FuncId> found;
  for (const lang::StageDef& stage : scheduled.graph.func(func).stages)
    for (const ir::CalleePtr& callee : lang::callees(stage))
      if (callee->kind == ir::CalleeKind::Func && callee->index != func.value)
        found.push_back(FuncId{callee->index});
  return found;
}

bool placed(const Scheduled& scheduled, FuncId func) {
  return scheduled.of(func).compute.kind != schedule::Place::Kind::Inline;
}

bool contains(const std::vector<FuncId>& funcs, FuncId func) {
  return std::find(funcs.begin(), funcs.end(), func) != funcs.end();
}

/// Whether `func` reads one of the group, directly or through others.
bool leads_into(const Scheduled& scheduled, FuncId func, const std::vector<FuncId>& group) {
  const std::vector<FuncId> read = sources(scheduled, func);
  return std::any_of(read.begin(), read.end(),
                     [&](FuncId f) { return contains(group, f) || leads_into(scheduled, f, group); });
}

/// Refuses a group that has to run both before and after a Func outside it.
void refuse_between(const Scheduled& scheduled, const std::vector<FuncId>& group) {
  for (FuncId member : group)
    for (FuncId between : sources(scheduled, member)) {
      if (contains(group, between) || !leads_into(scheduled, between, group)) continue;
      for (const SharedNest& nest : scheduled.shared)
        if (contains(group, nest.func))
          refuse(scheduled, nest,
                 fmt::format("'{}' has to run between stages that would share loops: '{}' reads it, and it "
                             "reads from the others",
                             scheduled.graph.func(between).name, scheduled.graph.func(member).name),
                 fmt::format("'{}' inlined or sharing the loops as well, or no compute_with",
                             scheduled.graph.func(between).name));
    }
}

[[noreturn]] void refuse_waiting(const Scheduled& scheduled,
                                 const std::vector<std::vector<FuncId>>& waiting) {
  for (const std::vector<FuncId>& group : waiting) refuse_between(scheduled, group);
  for (const SharedNest& nest : scheduled.shared)
    for (const std::vector<FuncId>& group : waiting)
      if (contains(group, nest.func))
        refuse(scheduled, nest, "Funcs that would share loops read others that would, and these read them",
               "no compute_with for one of the nests");
  throw Error({.kind = ErrorKind::Internal, .message = "Funcs wait for each other without sharing loops"});
}

}  // namespace

std::vector<FuncId> sharing(const Scheduled& scheduled, FuncId func) {
  std::vector<FuncId> group{func};
  for (std::size_t i = 0; i < group.size(); ++i)
    for (const SharedNest& nest : scheduled.shared)
      for (const auto& [a, b] : {std::pair{nest.func, nest.with}, {nest.with, nest.func}})
        if (a == group[i] && !contains(group, b)) group.push_back(b);
  std::vector<FuncId> ordered;
  for (FuncId id : scheduled.order)
    if (contains(group, id)) ordered.push_back(id);
  return ordered;
}

void order_sharing(Scheduled& scheduled) {
  if (scheduled.shared.empty()) return;
  for (const SharedNest& nest : scheduled.shared)
    for (FuncId id : {nest.func, nest.with})
      if (!placed(scheduled, id))
        refuse(scheduled, nest, fmt::format("nothing reads '{}' any more", scheduled.graph.func(id).name),
               "no compute_with");
  std::vector<std::vector<FuncId>> waiting;
  for (FuncId id : scheduled.order) {
    std::vector<FuncId> group = sharing(scheduled, id);
    if (group.front() == id) waiting.push_back(std::move(group));
  }
  std::vector<FuncId> order;
  const auto ready = [&](const std::vector<FuncId>& group) {
    for (FuncId member : group)
      for (FuncId source : sources(scheduled, member))
        if (placed(scheduled, source) && !contains(group, source) && !contains(order, source)) return false;
    return true;
  };
  while (!waiting.empty()) {
    const auto next = std::find_if(waiting.begin(), waiting.end(), ready);
    if (next == waiting.end()) refuse_waiting(scheduled, waiting);
    order.insert(order.end(), next->begin(), next->end());
    waiting.erase(next);
  }
  scheduled.order = std::move(order);
}

namespace {

/// The nests of a group, and how they become fewer.
class Sharer {
 public:
  Sharer(const LoopTree& tree, std::vector<Node> productions) : tree_(tree) {
    for (Node& production : productions) {
      funcs_.push_back(production.func);
      for (int s = 0; s < static_cast<int>(production.children.size()); ++s)
        nests_.push_back({std::move(production.children[s]), {{production.func, s}}});
    }
  }

  Node run() {
    for (const SharedNest& shared : tree_.scheduled.shared)
      if (contains(funcs_, shared.func)) join(shared);
    Node all{.kind = NodeKind::Produce, .func = funcs_.front()};
    while (!nests_.empty()) {
      const auto next = std::find_if(nests_.begin(), nests_.end(), [&](const Nest& n) { return free(n); });
      if (next == nests_.end()) refuse_order();
      all.children.push_back(std::move(next->node));
      nests_.erase(next);
    }
    return all;
  }

 private:
  struct Nest {
    Node node;
    std::vector<StageRef> stages;  ///< in the order of their bodies
  };

  Nest& nest_of(StageRef ref) {
    return *std::find_if(nests_.begin(), nests_.end(), [&](const Nest& n) { return holds(n, ref); });
  }
  static bool holds(const Nest& n, StageRef ref) {
    return std::find(n.stages.begin(), n.stages.end(), ref) != n.stages.end();
  }

  /// The stage's body goes into the loops of the other one, which is where it belongs already.
  void join(const SharedNest& shared) {
    if (!joined_.insert({shared.func, shared.stage}).second) return;
    for (const SharedNest& outer : tree_.scheduled.shared)
      if (outer.func == shared.with && outer.stage == shared.with_stage) join(outer);
    Nest& from = nest_of({shared.func, shared.stage});
    Nest& into = nest_of({shared.with, shared.with_stage});
    for (StageRef a : from.stages)
      for (StageRef b : into.stages)
        if (a.func == b.func)
          refuse(tree_.scheduled, shared,
                 fmt::format("{} and {}, stages of one Func, would run in one nest",
                             name_of(tree_.scheduled, b), name_of(tree_.scheduled, a)),
                 "loops shared by one stage of each Func");
    merge(into.node, std::move(from.node), shared, 0);
    into.stages.insert(into.stages.end(), from.stages.begin(), from.stages.end());
    const StageRef gone = from.stages.front();
    std::erase_if(nests_, [&](const Nest& n) { return &n != &into && holds(n, gone); });
  }

  /// A loop of the stage holds first the next one that is shared, then the stages that have joined it.
  static void merge(Node& nest, Node from, const SharedNest& shared, std::size_t depth) {
    auto child = from.children.begin();
    if (depth + 1 < shared.loops.size()) merge(nest, std::move(*child++), shared, depth + 1);
    Node& into = *find_loop(nest, shared.loops[depth].second);
    for (; child != from.children.end(); ++child) into.children.push_back(std::move(*child));
  }

  static Node* find_loop(Node& node, LoopId loop) {
    if (node.kind == NodeKind::Loop && node.loop == loop) return &node;
    for (Node& child : node.children)
      if (Node* found = find_loop(child, loop)) return found;
    return nullptr;
  }

  // ---- Order of the nests

  /// What a stage waits for, and why.
  struct Wait {
    StageRef stage;
    std::string why;
  };

  std::vector<Wait> waits(StageRef ref) const {
    std::vector<Wait> result;
    const std::string own = name_of(tree_.scheduled, ref);
    if (ref.stage > 0)
      result.push_back(
          {{ref.func, ref.stage - 1},
           fmt::format("{} follows {}", own, name_of(tree_.scheduled, {ref.func, ref.stage - 1}))});
    for (const ir::CalleePtr& callee : lang::callees(tree_.def(ref))) {
      const FuncId source{callee->index};
      if (callee->kind != ir::CalleeKind::Func || source == ref.func || !contains(funcs_, source)) continue;
      for (int s = 0; s < static_cast<int>(tree_.func(source).stages.size()); ++s)
        if (!is_plain_copy({source, s}))
          result.push_back(
              {{source, s}, fmt::format("{} reads {}", own, name_of(tree_.scheduled, {source, s}))});
    }
    return result;
  }

  /// f(x) = f(x) changes nothing: what stored stages add.
  bool is_plain_copy(StageRef ref) const {
    const lang::StageDef& def = tree_.def(ref);
    return ref.stage > 0 && ir::equal(def.value, tree_.func(ref.func).read(def.lhs));
  }

  bool left(StageRef ref) const {
    return std::any_of(nests_.begin(), nests_.end(), [&](const Nest& n) { return holds(n, ref); });
  }

  bool free(const Nest& nest) const {
    for (StageRef ref : nest.stages)
      for (const Wait& wait : waits(ref))
        if (!holds(nest, wait.stage) && left(wait.stage)) return false;
    return true;
  }

  [[noreturn]] void refuse_order() const {
    std::vector<std::string> reasons;
    for (const Nest& nest : nests_)
      for (StageRef ref : nest.stages)
        for (const Wait& wait : waits(ref))
          if (!holds(nest, wait.stage) && left(wait.stage)) reasons.push_back(wait.why);
    for (const SharedNest& shared : tree_.scheduled.shared)
      if (left({shared.func, shared.stage}))
        refuse(tree_.scheduled, shared,
               fmt::format("no order fits the stages that would share loops: {}", fmt::join(reasons, "; ")),
               "loops shared by the last stage of a Func that the other reads, or no compute_with");
    throw Error({.kind = ErrorKind::Internal, .message = "stages wait for each other without sharing loops"});
  }

  const LoopTree& tree_;
  std::vector<FuncId> funcs_;
  std::vector<Nest> nests_;
  std::set<StageRef> joined_;
};

}  // namespace

Node share_nests(const LoopTree& tree, std::vector<Node> productions) {
  return Sharer(tree, std::move(productions)).run();
}

}  // namespace calotype::lower
