// Loops that stages of several Funcs share: one range for each, and guards for stages that do not cover it.
//
// Used by bounds inference as soon as every Func of a shared nest is resolved, each with loops of its own,
// and before anything that is computed inside. Requires: a tree whose nests are joined, loops and StageInfo
// of all stages in them. Leaves: the loops of every stage that joined replaced by those of the nest's owner,
// in its schedule and in what its coordinates say; shared loops that go from the least first value to the
// largest last one; guards of stages that cover less, with the bounds of their coordinates clipped to match,
// since what is computed inside sees iterations in which they do not run.

#include <algorithm>
#include <map>
#include <set>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

using schedule::SharedNest;

class Joiner {
 public:
  Joiner(LoopTree& tree, ir::Algebra& algebra, const std::vector<FuncId>& funcs)
      : tree_(tree), algebra_(algebra), funcs_(funcs) {}

  void run() {
    for (const SharedNest& nest : tree_.scheduled.shared)
      if (std::find(funcs_.begin(), funcs_.end(), nest.func) != funcs_.end()) adopt(nest);
    // Outside in: what is known of a loop while those inside are simplified has to hold for all stages.
    for (LoopId loop : joined_) widen(loop);
    for (StageRef ref : adopted_) tidy(ref);
  }

 private:
  /// What a stage covers of a loop, in terms of the loops around it.
  struct Covered {
    StageRef stage;
    Expr min, last;
    std::string origin;
  };

  Expr simple(const Expr& e) { return algebra_.simplify(e); }

  Covered covered_by(StageRef stage, LoopId id, const ir::Substitution& map, const std::string& origin) {
    const LoopInfo& loop = tree_.loop(id);
    return {stage, ir::substitute(loop.min, map), ir::substitute(loop.min + loop.extent - ir::index(1), map),
            origin};
  }

  /// The stage runs in the shared loops from now on. Their owner does so first where it shares loops further
  /// out itself.
  void adopt(const SharedNest& nest) {
    const StageRef ref{nest.func, nest.stage};
    if (!adopted_.insert(ref).second) return;
    for (const SharedNest& outer : tree_.scheduled.shared)
      if (outer.func == nest.with && outer.stage == nest.with_stage) adopt(outer);
    ir::Substitution map;
    for (const auto& [own, shared] : nest.loops)
      map.emplace_back(tree_.loop(own).var, ir::make_var(tree_.loop(shared).var));
    for (const auto& [own, shared] : nest.loops) {
      std::vector<Covered>& all = covered_[shared];
      if (all.empty()) {
        all.push_back(covered_by(tree_.loop(shared).owner, shared, {}, nest.origin));
        joined_.push_back(shared);
      }
      all.push_back(covered_by(ref, own, map, nest.origin));
    }
    replace_loops(ref, nest, map);
  }

  void replace_loops(StageRef ref, const SharedNest& nest, const ir::Substitution& map) {
    for (LoopId& id : tree_.scheduled.funcs[ref.func.value].stages[ref.stage].loops) {
      const auto pair =
          std::find_if(nest.loops.begin(), nest.loops.end(), [&](const auto& p) { return p.first == id; });
      if (pair != nest.loops.end()) {
        id = pair->second;
        continue;
      }
      LoopInfo& inside = tree_.loop(id);
      inside.min = ir::substitute(inside.min, map);
      inside.extent = ir::substitute(inside.extent, map);
    }
    for (FusedPart& part : tree_.fused_parts) part.value = ir::substitute(part.value, map);
    StageInfo& info = tree_.stages.at(ref);
    for (std::vector<Expr>* values : {&info.coordinates, &info.starts, &info.limits})
      for (Expr& e : *values)
        if (e.defined()) e = ir::substitute(e, map);
    for (Guard& guard : info.guards) guard.condition = ir::substitute(guard.condition, map);
  }

  void widen(LoopId id) {
    const std::vector<Covered>& covered = covered_.at(id);
    LoopInfo& loop = tree_.loop(id);
    Expr first = simple(covered.front().min), last = simple(covered.front().last);
    for (const Covered& c : covered) {
      if (!equal(first, c.min)) first = simple(min(first, c.min));
      if (!equal(last, c.last)) last = simple(max(last, c.last));
    }
    loop.min = first;
    loop.extent = simple(last - first + ir::index(1));
    tree_.facts.set_range(loop.var, first, last);
    for (const Covered& c : covered) guard(loop, c, first, last);
  }

  /// What the stage says of its loops, in few words.
  void tidy(StageRef ref) {
    for (LoopId id : tree_.schedule_of(ref).loops) {
      LoopInfo& loop = tree_.loop(id);
      if (loop.owner != ref) continue;
      loop.min = simple(loop.min);
      loop.extent = simple(loop.extent);
      tree_.facts.set_range(loop.var, loop.min, simple(loop.min + loop.extent - ir::index(1)));
    }
    StageInfo& info = tree_.stages.at(ref);
    for (std::vector<Expr>* values : {&info.coordinates, &info.starts, &info.limits})
      for (Expr& e : *values)
        if (e.defined()) e = simple(e);
    for (Guard& guard : info.guards) guard.condition = simple(guard.condition);
    std::erase_if(info.guards, [](const Guard& g) { return ir::is_one(g.condition); });
  }

  bool equal(const Expr& a, const Expr& b) { return ir::prove_equal(a, b, tree_.facts); }

  void guard(const LoopInfo& loop, const Covered& c, const Expr& first, const Expr& last) {
    const Expr v = ir::make_var(loop.var);
    Expr inside = ir::make_one(Bool());
    if (!equal(c.min, first)) inside = inside && v >= c.min;
    if (!equal(c.last, last)) inside = inside && v <= c.last;
    inside = simple(inside);
    if (ir::is_one(inside)) return;
    const bool lanes = loop.binding == ir::Binding::Vector || loop.binding == ir::Binding::GpuThread;
    StageInfo& info = tree_.stages.at(c.stage);
    info.guards.push_back({inside, lanes ? Tail::Predicate : Tail::Guard, c.origin});
    clip(c.stage, info, loop.var);
  }

  void clip(StageRef ref, StageInfo& info, const ir::SymbolPtr& var) {
    const lang::StageDef& def = tree_.def(ref);
    for (std::size_t i = 0; i < info.dims.size(); ++i) {
      if (!info.coordinates[i].defined() || !ir::uses(info.coordinates[i], var)) continue;
      ir::Interval whole;
      if (i < info.need.size()) {
        whole = info.read[i];
      } else {
        const lang::ReductionDim& r = def.reduction[i - info.need.size()];
        whole = {r.min, r.min + r.extent - ir::index(1)};
      }
      info.starts[i] = simple(max(info.starts[i], whole.min));
      info.limits[i] = simple(min(info.limits[i], whole.max));
    }
  }

  LoopTree& tree_;
  ir::Algebra& algebra_;
  const std::vector<FuncId>& funcs_;
  std::set<StageRef> adopted_;
  std::vector<LoopId> joined_;                      ///< shared loops, those outside first
  std::map<LoopId, std::vector<Covered>> covered_;  ///< by shared loop; the owner's comes first
};

}  // namespace

void join_loops(LoopTree& tree, ir::Algebra& algebra, const std::vector<FuncId>& funcs) {
  Joiner(tree, algebra, funcs).run();
  check_shared_order(tree, funcs);
}

}  // namespace calotype::lower
