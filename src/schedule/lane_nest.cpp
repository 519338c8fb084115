// The loops of an update among which lanes of reduction loops have partial results.
#include "schedule/lane_nest.h"

#include <algorithm>

#include "schedule/loops.h"

namespace calotype::schedule {

bool LaneNest::is_lane(LoopId loop) const {
  return std::find(lanes.begin(), lanes.end(), loop) != lanes.end();
}

LoopId LaneNest::outermost_partial() const {
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
    if (is_lane(*loop) || std::find(threads.begin(), threads.end(), *loop) != threads.end()) return *loop;
  return {};
}

bool moves_place(const Scheduled& scheduled, FuncId func, int stage, LoopId loop) {
  const lang::FuncDef& f = scheduled.graph.func(func);
  const lang::StageDef& def = f.stages[stage];
  for (int d : roots(scheduled.of(func).stages[stage], loop)) {
    const ir::SymbolPtr& symbol = d < f.rank() ? f.args[d] : def.reduction[d - f.rank()].symbol;
    if (std::any_of(def.lhs.begin(), def.lhs.end(), [&](const Expr& e) { return ir::uses(e, symbol); }))
      return true;
  }
  return false;
}

bool is_shared(const Scheduled& scheduled, LoopId loop) {
  return std::any_of(scheduled.shared.begin(), scheduled.shared.end(), [&](const SharedNest& nest) {
    return std::any_of(nest.loops.begin(), nest.loops.end(),
                       [&](const auto& pair) { return pair.first == loop || pair.second == loop; });
  });
}

LaneNest lane_nest(const Scheduled& scheduled, FuncId func, int stage, bool in_order) {
  const std::vector<LoopId>& loops = scheduled.of(func).stages[stage].loops;
  const auto is_partial = [&](LoopId id) { return scheduled.loop(id).sharing == Sharing::Partial; };
  LaneNest nest;
  auto outermost = std::find_if(loops.rbegin(), loops.rend(), is_partial).base();  // past the outermost
  if (outermost == loops.begin()) return nest;
  for (auto it = loops.begin(); it != loops.end(); ++it) {
    const Loop& loop = scheduled.loop(*it);
    const bool vector = loop.binding == ir::Binding::Vector;
    const bool thread = !vector && is_partial(*it);
    const bool runs_alone =
        vector || thread || loop.binding == ir::Binding::Serial || loop.binding == ir::Binding::Unrolled;
    const bool moves = moves_place(scheduled, func, stage, *it);
    if (it < outermost) {
      if (!vector && (moves || !runs_alone) && !nest.obstacle.valid()) nest.obstacle = *it;
    } else if (!vector && (in_order || moves || !runs_alone || is_shared(scheduled, *it))) {
      break;
    }
    nest.loops.push_back(*it);
    nest.around = *it;
    if (vector) nest.vectors.push_back(*it);
    if (is_partial(*it)) (thread ? nest.threads : nest.lanes).push_back(*it);
  }
  return nest;
}

}  // namespace calotype::schedule
