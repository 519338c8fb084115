// Whether stages that share loops find what they read.
//
// Used by join_loops. Requires: joined loops. Leaves: nothing changed, or an Error that names the dependence.
// A stage reads another's element in the shared loops at values v; any body that writes the element has to
// run before: at values w that come before v in the order of the loops, or at the same ones if its body comes
// first. So for each shared loop, with equal values of those around it, what is written at any later value is
// proved to be apart from what is read; at any earlier one too where iterations run at one time. Regions are
// taken over the loops inside. Inside a shared loop over threads no barrier can stand: threads that one of
// the stages has to itself there must not touch what the other does.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

class OrderCheck {
 public:
  OrderCheck(const LoopTree& tree, const std::vector<FuncId>& funcs)
      : tree_(tree),
        funcs_(funcs),
        facts_(tree.facts),
        distance_(ir::make_symbol(ir::SymbolKind::Let, "distance")) {
    facts_.set_range(distance_, ir::index(1), {});
    visit(tree.root, [&](const Node& node, const std::vector<const Node*>&) {
      if (node.kind == NodeKind::Body) position_.emplace(node.stage, static_cast<int>(position_.size()));
    });
  }

  void run() {
    for (FuncId reader : funcs_)
      for (int s = 0; s < stages_of(reader); ++s)
        for (const Expr& call : calls_in(tree_.def({reader, s}))) check_call({reader, s}, call);
  }

 private:
  int stages_of(FuncId func) const { return static_cast<int>(tree_.func(func).stages.size()); }

  void check_call(StageRef reader, const Expr& call) {
    const ir::Callee& callee = *ir::callee_of(call);
    const FuncId source{callee.index};
    if (callee.kind != ir::CalleeKind::Func || source == reader.func ||
        std::find(funcs_.begin(), funcs_.end(), source) == funcs_.end())
      return;
    for (int s = 0; s < stages_of(source); ++s) check_pair(reader, call, {source, s});
  }

  void check_pair(StageRef reader, const Expr& call, StageRef writer) {
    const std::vector<LoopId> shared = shared_loops(reader, writer);
    for (LoopId id : shared) {
      const ir::Binding binding = tree_.loop(id).binding;
      const bool in_order = binding == ir::Binding::Serial || binding == ir::Binding::Unrolled;
      const Expr later = ir::make_var(distance_), earlier = ir::index(0) - later;
      if (!apart(reader, call, writer, id, later)) refuse(reader, call, writer, id, "a later");
      if (!in_order && !apart(reader, call, writer, id, earlier)) refuse(reader, call, writer, id, "another");
    }
    const bool before = position_.at(writer) < position_.at(reader);
    if (!shared.empty() && !before && !apart(reader, call, writer, shared.back(), {}))
      refuse(reader, call, writer, shared.back(), "the same");
    if (divided_among_threads(shared, reader, writer) && !apart(reader, call, writer, shared.back(), {}))
      refuse(reader, call, writer, shared.back(), "another thread of the same");
  }

  /// Whether some loops over threads are shared and others are not: what one thread writes in an iteration of
  /// the shared ones another one reads, with no barrier between.
  bool divided_among_threads(const std::vector<LoopId>& shared, StageRef a, StageRef b) const {
    const auto over_threads = [&](LoopId id) { return tree_.loop(id).binding == ir::Binding::GpuThread; };
    if (std::none_of(shared.begin(), shared.end(), over_threads)) return false;
    for (StageRef ref : {a, b})
      for (LoopId id : tree_.schedule_of(ref).loops)
        if (over_threads(id) && std::find(shared.begin(), shared.end(), id) == shared.end()) return true;
    return false;
  }

  /// Outermost first.
  std::vector<LoopId> shared_loops(StageRef a, StageRef b) const {
    const std::vector<LoopId>&of_a = tree_.schedule_of(a).loops, &of_b = tree_.schedule_of(b).loops;
    std::vector<LoopId> both;
    for (auto id = of_a.rbegin(); id != of_a.rend(); ++id)
      if (std::find(of_b.begin(), of_b.end(), *id) != of_b.end()) both.push_back(*id);
    return both;
  }

  /// Whether the writer touches nothing that is read when loop `id` is `ahead` of the reader's iteration.
  bool apart(StageRef reader, const Expr& call, StageRef writer, LoopId id, const Expr& ahead) const {
    const std::vector<Expr>& written = tree_.def(writer).lhs;
    const Expr v = ir::make_var(tree_.loop(id).var);
    for (std::size_t d = 0; d < written.size(); ++d) {
      const ir::Interval read = region(reader, call->args[d], id);
      ir::Interval write = region(writer, written[d], id);
      if (ahead.defined())
        for (Expr* end : {&write.min, &write.max})
          if (end->defined()) *end = ir::substitute(*end, {{tree_.loop(id).var, v + ahead}});
      if (write.min.defined() && read.max.defined() && ir::prove(write.min > read.max, facts_)) return true;
      if (write.max.defined() && read.min.defined() && ir::prove(write.max < read.min, facts_)) return true;
    }
    return false;
  }

  /// A coordinate over the loops inside `id`.
  ir::Interval region(StageRef ref, const Expr& coordinate, LoopId id) const {
    ir::Interval range =
        ir::bounds_of(ir::substitute(coordinate, tree_.coordinates_of(ref)), ir::make_scope(), facts_);
    for (LoopId inner : tree_.schedule_of(ref).loops) {
      if (inner == id) break;
      const LoopInfo& loop = tree_.loop(inner);
      ir::Scope scope = ir::make_scope();
      scope[loop.var] = {loop.min, ir::simplify(loop.min + loop.extent - ir::index(1), facts_)};
      range = ir::bounds_of(range, scope, facts_);
    }
    return range;
  }

  std::string name_of(StageRef ref) const { return lang::stage_name(tree_.func(ref.func), ref.stage); }

  [[noreturn]] void refuse(StageRef reader, const Expr& call, StageRef writer, LoopId id,
                           const char* which) const {
    std::string origin;
    for (const schedule::SharedNest& nest : tree_.scheduled.shared)
      for (StageRef ref : {reader, writer})
        if (nest.func == ref.func && nest.stage == ref.stage) origin = nest.origin;
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format(
                     "{} reads values of {} that are not proved to be complete: {} iteration of the shared "
                     "loop '{}' may write them",
                     name_of(reader), name_of(writer), which, tree_.loop(id).name),
                 .func = tree_.func(reader.func).name,
                 .stage = name_of(reader),
                 .directive = origin,
                 .value = ir::to_string(call),
                 .legal = "loops shared further out, or no compute_with"});
  }

  const LoopTree& tree_;
  const std::vector<FuncId>& funcs_;
  ir::Facts facts_;
  ir::SymbolPtr distance_;
  std::map<StageRef, int> position_;
};

}  // namespace

void check_shared_order(const LoopTree& tree, const std::vector<FuncId>& funcs) {
  OrderCheck(tree, funcs).run();
}

}  // namespace calotype::lower
