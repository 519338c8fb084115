// Races of reduction loops: whether iterations meet is found out in meetings.cpp.
//
// On a host the loops outside one that runs at one time stand still meanwhile. The threads of a GPU do not
// wait for each other between iterations of the loops outside, so there nothing stands still.
#include "schedule/races.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/associative.h"
#include "schedule/lane_nest.h"
#include "schedule/loops.h"
#include "schedule/meetings.h"

namespace calotype::schedule {

namespace {

bool runs_at_one_time(ir::Binding b) { return b != ir::Binding::Serial && b != ir::Binding::Unrolled; }

class StageRaces {
 public:
  StageRaces(State& state, FuncId func, int stage)
      : state_(state),
        func_(func),
        stage_(stage),
        f_(state.def(func)),
        def_(f_.stages[stage]),
        sched_(state.loops_of(func, stage)) {}

  void run() {
    if (def_.function()) return;  // no loops
    for (LoopId id : sched_.loops)
      if (state_.loop(id).reduction && runs_at_one_time(state_.loop(id).binding) && !runs_once(id) &&
          !decide(id))
        return;
    const Associative proof = prove_associative(f_, def_);
    const LaneNest nest = lane_nest(state_.out, func_, stage_, !proof.commutative);
    if (nest.around.valid()) check_nest(nest, !proof.commutative, proof.regroups_floats);
  }

 private:
  // ---- One loop

  /// One iteration meets no other. (Of lanes, one is a nest of partial results like several; of threads, one
  /// has a result that the others of the block are told.)
  bool runs_once(LoopId id) const {
    return state_.loop(id).binding != ir::Binding::Vector && !by_threads(id) &&
           constant_extent(state_, func_, stage_, id).value_or(2) <= 1;
  }

  /// Whether the threads of a block, or the blocks of a cluster, may have partial results.
  bool by_threads(LoopId id) const {
    const ir::Binding b = state_.loop(id).binding;
    return (b == ir::Binding::GpuThread || b == ir::Binding::GpuCluster) &&
           state_.out.of(func_).memory == Memory::Register;
  }

  /// False: refused.
  bool decide(LoopId id) {
    Loop& loop = state_.out.loops[id.value];
    const bool threads = loop.binding == ir::Binding::GpuBlock || loop.binding == ir::Binding::GpuThread ||
                         loop.binding == ir::Binding::GpuCluster;
    const std::string meeting = Meetings(state_, func_, stage_, id, !threads).find();
    if (meeting.empty()) return true;
    const Associative proof = prove_associative(f_, def_);
    if (is_shared(state_.out, id)) {
      refuse(id, meeting, "a loop that the stage does not share with another one (compute_with)");
      return false;
    }
    // What is only stored as an 8-bit float has no lanes of its own.
    const bool computed =
        std::none_of(f_.types.begin(), f_.types.end(), [](Type t) { return t.is_float8(); });
    const bool lanes = computed && (loop.binding == ir::Binding::Vector || by_threads(id)) &&
                       !moves_place(state_.out, func_, stage_, id);
    if (lanes && proof.unproved.empty()) {
      loop.sharing = Sharing::Partial;
      return true;
    }
    if (!sched_.atomic_origin.empty() && f_.is_tuple() && loop.binding == ir::Binding::Vector) {
      refuse(id, meeting + "; lanes cannot take turns at several values", "a serial or parallel loop");
      return false;
    }
    if (!sched_.atomic_origin.empty()) {
      loop.sharing = Sharing::Atomic;
      note_reassociation(state_, func_, stage_, id);
      return true;
    }
    refuse(id, lanes ? fmt::format("{}; {}", meeting, proof.unproved) : meeting, legal(id, proof));
    return false;
  }

  std::string legal(LoopId id, const Associative& proof) const {
    std::string text = "pure loops";
    if (proof.unproved.empty())
      text += fmt::format("; rfactor makes '{}' pure in a Func of its own", state_.loop(id).name);
    const bool cluster = state_.loop(id).binding == ir::Binding::GpuCluster;
    if ((cluster || state_.loop(id).binding == ir::Binding::GpuThread) && !by_threads(id) &&
        proof.unproved.empty())
      text += fmt::format("; store_in(register) of '{}' at block level: a partial result in each {}", f_.name,
                          cluster ? "block" : "thread");
    const bool several = f_.is_tuple() && !state_.out.target.is_gpu() && proof.unproved.empty() &&
                         proof.commutative && state_.loop(id).binding != ir::Binding::Vector;
    if ((def_.reduce_op && !f_.is_tuple()) || several)
      text += "; atomic, by which iterations that meet take turns";
    return text;
  }

  void refuse(LoopId id, const std::string& meeting, const std::string& legal) {
    const int directive = state_.loop_directives[id.value];
    const std::string what =
        directive < 0 ? std::string("a default") : state_.schedule.directives()[directive].name;
    state_.refuse(
        func_, stage_, directive,
        fmt::format("{} over the reduction loop '{}' is a race: {}", what, state_.loop(id).name, meeting),
        state_.loop(id).name, legal);
  }

  // ---- The nest of partial results

  void check_nest(const LaneNest& nest, bool in_order, bool regroups_floats) {
    const LoopId lane = nest.outermost_partial();
    const std::string& name = state_.loop(lane).name;
    const bool of_threads = nest.by_threads();
    const auto refuse_nest = [&](const std::string& message, LoopId value, const std::string& legal) {
      state_.refuse(func_, stage_, state_.loop_directives[lane.value], message, state_.loop(value).name,
                    legal);
    };
    if (nest.obstacle.valid()) {
      const std::string& inside = state_.loop(nest.obstacle).name;
      return refuse_nest(fmt::format("'{}' lies inside the {} reduction loop '{}', whose {} have "
                                     "partial results of one place{}",
                                     inside, of_threads ? "bound" : "vectorised", name,
                                     of_threads ? "threads" : "lanes", of_threads ? "" : " in one thread"),
                         nest.obstacle, fmt::format("reorder, so that '{}' is outside '{}'", inside, name));
    }
    for (LoopId id : sched_.loops) {
      if (state_.loop(id).binding != ir::Binding::Vector) continue;
      if (std::find(nest.vectors.begin(), nest.vectors.end(), id) != nest.vectors.end()) continue;
      return refuse_nest(
          fmt::format("the vector loop '{}' is not next to the vectorised reduction loop '{}'",
                      state_.loop(id).name, name),
          id,
          fmt::format("reorder, so that nothing but '{}' and loops over which it stays in place is inside "
                      "'{}'",
                      name, state_.loop(id).name));
    }
    std::int64_t product = 1;
    for (LoopId id : nest.vectors)
      product *= std::min(constant_extent(state_, func_, stage_, id).value_or(1), kMostLanes + 1);
    if (product > kMostLanes)
      return refuse_nest(fmt::format("{} partial results at once", product), lane,
                         fmt::format("at most {}", kMostLanes));
    if (of_threads && !check_threads(nest, in_order, refuse_nest)) return;
    if (!regroups_floats) return;
    for (LoopId id : nest.loops)
      if (state_.loop(id).reduction) note_reassociation(state_, func_, stage_, id);
  }

  /// Partial results of threads. False: refused.
  template <class Refuse>
  bool check_threads(const LaneNest& nest, bool in_order, const Refuse& refuse_nest) {
    // Thread after thread has what follows in the RDom where each has all of a stretch.
    if (in_order && (nest.threads.size() > 1 || !nest.lanes.empty() || nest.around != nest.threads.back())) {
      refuse_nest("of equal terms the first counts, so that partial results are combined in their order",
                  nest.threads.back(),
                  "one loop bound to threads, outside the other reduction loops; no lanes");
      return false;
    }
    return true;
  }

  State& state_;
  FuncId func_;
  int stage_;
  const lang::FuncDef& f_;
  const lang::StageDef& def_;
  const StageSchedule& sched_;
};

}  // namespace

void check_races(State& state) {
  for (const lang::FuncDef& f : state.out.graph.funcs) {
    if (state.out.of(f.id).compute.kind == Place::Kind::Inline) continue;
    for (int i = 0; i < static_cast<int>(f.stages.size()); i++) StageRaces(state, f.id, i).run();
  }
}

}  // namespace calotype::schedule
