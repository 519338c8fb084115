// Binding loops to the blocks and threads of a GPU, and the checks of the nest that results.
#include "schedule/gpu.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/loops.h"
#include "schedule/order.h"
#include "schedule/places.h"

namespace calotype::schedule {

namespace {

bool bound_to(const State& state, LoopId loop, ir::Binding binding) {
  return state.loop(loop).binding == binding;
}

std::vector<LoopId> bound_loops(const State& state, FuncId func, int stage, ir::Binding binding) {
  std::vector<LoopId> found;
  for (LoopId id : state.loops_of(func, stage).loops)
    if (bound_to(state, id, binding)) found.push_back(id);
  return found;
}

bool any_around(const State& state, const Place& place, ir::Binding binding) {
  const std::vector<Around> around = loops_around(state, place);
  return std::any_of(around.begin(), around.end(),
                     [&](const Around& l) { return bound_to(state, l.loop, binding); });
}

/// The checks of one stage, in the order in which a reader would want to hear of them.
class StageCheck {
 public:
  StageCheck(State& state, FuncId func, int stage)
      : state_(state),
        func_(func),
        stage_(stage),
        place_(state.out.of(func).compute),
        blocks_(bound_loops(state, func, stage, ir::Binding::GpuBlock)),
        threads_(bound_loops(state, func, stage, ir::Binding::GpuThread)) {}

  void run() {
    const std::vector<LoopId> clusters = bound_loops(state_, func_, stage_, ir::Binding::GpuCluster);
    if (place_.kind == Place::Kind::Root && blocks_.empty() && threads_.empty() && clusters.empty())
      without_blocks();
    if (!blocks_.empty()) blocks();
    for (LoopId id : clusters) cluster(id);
    if (!threads_.empty()) threads();
  }

 private:
  void refuse(LoopId loop, const std::string& message, const std::string& legal) {
    state_.refuse(func_, stage_, state_.loop_directives[loop.value], message, state_.loop(loop).name, legal);
  }

  void without_blocks() {
    const StageState& own = state_.stage(func_, stage_);
    if (!own.directed && !own.referred) return;
    for (LoopId id : state_.loops_of(func_, stage_).loops) {
      if (state_.loop(id).reduction) continue;
      state_.refuse(func_, stage_, last_directive(),
                    fmt::format("{} is a kernel of its own, but none of its loops is bound to blocks",
                                state_.stage_name(func_, stage_)),
                    "",
                    fmt::format("gpu_blocks over its outermost loops; {}", state_.loops_text(func_, stage_)));
      return;
    }
  }

  /// The last directive on the stage, where the missing gpu_blocks would follow; else the one that computes
  /// another Func at a loop of it or with it.
  int last_directive() const {
    const std::vector<Directive>& all = state_.schedule.directives();
    for (int i = static_cast<int>(all.size()) - 1; i >= 0; i--)
      if (all[i].stage == state_.stage_name(func_, stage_) &&
          find_directive(all[i].name)->addresses == Addresses::Stage)
        return i;
    int last = -1;
    for (LoopId id : state_.loops_of(func_, stage_).loops)
      last = std::max(last, state_.loop_directives[id.value]);
    for (const LoopReference& r : state_.references)
      if (r.directive > last && refers_here(r)) last = r.directive;
    for (const SharedReference& r : state_.shared_references)
      if (r.directive > last && shares_here(r)) last = r.directive;
    return last;
  }

  bool refers_here(const LoopReference& r) const {
    const FuncSchedule& f = state_.out.of(r.func);
    const Place& place = f.*r.place;
    return place.kind == Place::Kind::At && place.func == func_ && place.stage == stage_;
  }

  bool shares_here(const SharedReference& r) const {
    return std::any_of(state_.out.shared.begin(), state_.out.shared.end(), [&](const SharedNest& nest) {
      return nest.func == r.func && nest.stage == r.stage && nest.with == func_ && nest.with_stage == stage_;
    });
  }

  void blocks() {
    if (place_.kind == Place::Kind::At)
      return refuse(blocks_[0],
                    fmt::format("{} is computed inside '{}' of {} and cannot have blocks of its own",
                                state_.stage_name(func_, stage_), state_.loop(place_.loop).name,
                                state_.stage_name(place_.func, place_.stage)),
                    "gpu_threads; or compute_root");
    LoopId outside;
    const std::vector<LoopId>& loops = state_.loops_of(func_, stage_).loops;
    for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
      const bool block = bound_to(state_, *it, ir::Binding::GpuBlock);
      if (!block && !outside.valid()) outside = *it;
      if (block && outside.valid())
        return refuse(*it,
                      fmt::format("the loop '{}' lies outside the block loop '{}'", state_.loop(outside).name,
                                  state_.loop(*it).name),
                      "block loops outermost: reorder first");
    }
  }

  void cluster(LoopId loop) {
    const bool at = place_.kind == Place::Kind::At;
    if (at && (any_around(state_, place_, ir::Binding::GpuThread) ||
               any_around(state_, place_, ir::Binding::GpuCluster)))
      return refuse(loop,
                    fmt::format("{} is computed inside a block of the cluster already",
                                state_.stage_name(func_, stage_)),
                    "a loop outside the consumer's cluster loop to compute it at; or other loops");
    if (blocks_.empty() && !(at && any_around(state_, place_, ir::Binding::GpuBlock)))
      return refuse(loop, fmt::format("the cluster of {} is in no grid", state_.stage_name(func_, stage_)),
                    "gpu_blocks over loops outside it, or compute_at a block loop");
    const std::int64_t most = most_cluster_blocks(state_.out.target);
    const auto extent = constant_extent(state_, func_, stage_, loop);
    if (extent && *extent > most)
      return refuse(loop, fmt::format("a cluster of {} blocks", *extent),
                    fmt::format("at most {} on {}", most, state_.out.target.str()));
    const FuncSchedule& f = state_.out.of(func_);
    if (at && f.memory != Memory::Register && f.memory != Memory::Shared)
      refuse(
          loop,
          fmt::format("each block of the cluster would compute a part of '{}', which all of them read",
                      state_.def(func_).name),
          "store_in(register) or store_in(shared), for those who read their own part or for partial results "
          "of a reduction; or compute_at the cluster loop");
  }

  void threads() {
    if (place_.kind == Place::Kind::At && any_around(state_, place_, ir::Binding::GpuThread))
      return refuse(threads_[0],
                    fmt::format("{} is computed inside a thread already", state_.stage_name(func_, stage_)),
                    "serial, unrolled or vector loops; or compute_at a loop outside the threads");
    if (blocks_.empty() &&
        !(place_.kind == Place::Kind::At && any_around(state_, place_, ir::Binding::GpuBlock)))
      return refuse(threads_[0],
                    fmt::format("the threads of {} are in no block", state_.stage_name(func_, stage_)),
                    "gpu_blocks over loops outside it, or compute_at a loop inside a block");
    std::int64_t product = 1;
    bool warps = false;
    for (LoopId id : threads_) {
      const auto extent = constant_extent(state_, func_, stage_, id);
      if (!extent) continue;
      const ir::ThreadPart part = state_.loop(id).part;
      if (part == ir::ThreadPart::Lane && *extent > warp_lanes)
        return refuse(id, fmt::format("{} lanes of a warp", *extent), "at most 32; gpu_threads");
      product *= std::min(part == ir::ThreadPart::Lane ? 1 : *extent, most_threads + 1);
      if (part != ir::ThreadPart::Whole) warps = true;
      if (state_.loop(id).axis == 2 && *extent > most_threads_z)
        return refuse(id, fmt::format("{} threads along z", *extent),
                      fmt::format("at most {} along z", most_threads_z));
    }
    if (warps) product *= warp_lanes;
    if (product > most_threads)
      refuse(threads_[0], fmt::format("a block of {} threads", product),
             fmt::format("at most {} threads a block", most_threads));
  }

  State& state_;
  FuncId func_;
  int stage_;
  const Place& place_;
  std::vector<LoopId> blocks_, threads_;
};

/// A Func computed between the block loops, or between the thread loops, of its consumer.
void check_place(State& state, FuncId func) {
  const Place& place = state.out.of(func).compute;
  if (place.kind != Place::Kind::At) return;
  const int directive = state.funcs[func.value].compute_directive;
  const bool in_thread = any_around(state, place, ir::Binding::GpuThread);
  for (LoopId id : state.loops_of(place.func, place.stage).loops) {
    if (id == place.loop) break;
    const bool block = bound_to(state, id, ir::Binding::GpuBlock);
    if (bound_to(state, id, ir::Binding::GpuCluster)) continue;  // each block computes it, or its part
    if (!block && !(in_thread && bound_to(state, id, ir::Binding::GpuThread))) continue;
    state.refuse(func, -1, directive,
                 fmt::format("the {} loop '{}' lies inside '{}', and all its iterations run at one time",
                             block ? "block" : "thread", state.loop(id).name, state.loop(place.loop).name),
                 state.loop(place.loop).name,
                 fmt::format("'{}', or a loop inside it{}", state.loop(id).name,
                             block ? "" : "; or a loop outside every thread loop"));
    return;
  }
}

/// Kinds of memory that need a place inside (or outside) blocks and threads.
void check_memory(State& state, FuncId func) {
  const FuncSchedule& f = state.out.of(func);
  const bool in_block = any_around(state, f.store, ir::Binding::GpuBlock);
  const bool in_thread = any_around(state, f.store, ir::Binding::GpuThread);
  const int directive = state.funcs[func.value].memory_directive;
  const std::string& name = state.def(func).name;
  const std::string kind = text_of(f.memory);
  if (!in_block && (f.memory == Memory::Shared || f.memory == Memory::Register || f.memory == Memory::Local))
    state.refuse(func, -1, directive,
                 fmt::format("'{}' is stored outside every block, where there is no {} memory", name, kind),
                 kind, "global, auto; or compute_at a loop inside a block");
  if (in_thread && f.memory == Memory::Shared)
    state.refuse(func, -1, directive,
                 fmt::format("'{}' is stored inside a thread, and shared memory belongs to the block", name),
                 kind, "register, local, auto; or storage outside the thread loops");
  if (in_block && f.memory == Memory::Global)
    state.refuse(func, -1, directive,
                 fmt::format("'{}' is stored inside a block, and global memory belongs to the grid", name),
                 kind, "shared, register, local, auto; or storage at root");
}

}  // namespace

std::int64_t most_shared_kb(const Target& target) {
  if (!target.is_gpu()) return 0;
  if (target.arch == "sm_80") return 163;
  if (target.arch == "sm_86" || target.arch == "sm_89" || target.arch == "sm_120a") return 99;
  return 227;
}

// 8 everywhere where there are clusters; 16 on data-centre parts for kernels that ask for it.
std::int64_t most_cluster_blocks(const Target& target) {
  if (!target.is_gpu() || target.arch == "sm_80" || target.arch == "sm_86" || target.arch == "sm_89")
    return 1;
  return target.arch == "sm_120a" ? portable_cluster_blocks : 16;
}

void require_bindable(const Application& a, LoopId loop) {
  if (!a.state.out.target.is_gpu())
    a.refuse(fmt::format("the target {} has no GPU blocks and threads", a.state.out.target.str()),
             a.state.loop(loop).name,
             "the targets cuda and cuda-interpreter; parallel and vectorize on this one");
}

namespace {

const char* name_of(ir::ThreadPart part) {
  return part == ir::ThreadPart::Lane ? "lanes" : part == ir::ThreadPart::Warp ? "warps" : "threads along x";
}

/// Thread x is warp * 32 + lane: it is bound as a whole, or by one loop of each.
void require_apart(const Application& a, LoopId loop, ir::ThreadPart part) {
  for (LoopId id : bound_loops(a.state, a.func, a.stage, ir::Binding::GpuThread)) {
    const Loop& other = a.state.loop(id);
    if (part == ir::ThreadPart::Whole ? other.part == part
                                      : other.part != ir::ThreadPart::Whole && other.part != part)
      continue;
    a.refuse(fmt::format("'{}' is bound to {} of the same block", other.name, name_of(other.part)),
             a.state.loop(loop).name, "one loop of lanes and one of warps; or gpu_threads for both at once");
  }
}

}  // namespace

void apply_part(Application& a, const char* suffix, ir::ThreadPart part) {
  LoopId loop = a.loop("loop");
  const std::string name = a.state.loop(loop).name;
  require_bindable(a, loop);
  if (a.has("by"))
    loop =
        split_loop(a, loop, name + ".o", fmt::format("{}.{}", name, suffix), a.integer("by"), a.tail()).inner;
  require_bindable(a, loop);
  require_apart(a, loop, part);
  bind_loop(a, loop, ir::Binding::GpuThread, 0);
  a.state.out.loops[loop.value].part = part;
}

DirectiveSpec part_spec(const char* name, const char* parts, std::int64_t most, std::string doc,
                        void (*apply)(Application&)) {
  return {
      .name = name,
      .addresses = Addresses::Stage,
      .doc = std::move(doc),
      .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"},
               {.name = "by",
                .kind = ArgKind::Integer,
                .doc = fmt::format("{} along the loop", parts),
                .optional = true,
                .high = most},
               tail_argument()},
      .reorders = "if a reduction loop's threads have partial results",
      .refused =
          {"the target is no GPU", fmt::format("the loop has more than {} iterations", most),
           "another loop of the stage is bound to them, or a loop to threads as a whole",
           "the block has threads along y or z",
           "a loop is a reduction loop of which two iterations may meet in one place (a race), and neither "
           "is the update atomic nor have threads partial results (see gpu_threads)",
           "the stage is neither inside its own block loops nor computed inside a block",
           "the stage is computed inside a thread already", "the loop is bound already"},
      .apply = apply};
}

void require_blocks(const Application& a, std::size_t least) {
  const std::size_t blocks = bound_loops(a.state, a.func, a.stage, ir::Binding::GpuBlock).size();
  const std::string stage = a.state.stage_name(a.func, a.stage);
  if (blocks < least)
    a.refuse(fmt::format("{} of the loops of {} is bound to blocks", blocks == 0 ? "none" : "one", stage),
             a.state.loops_text(a.func, a.stage),
             fmt::format("gpu_blocks over {}", least == 1 ? "one" : "two"));
  for (const SharedNest& nest : a.state.out.shared)
    if (nest.func == a.func && nest.stage == a.stage)
      a.refuse(fmt::format("{} runs in the block loops of {}, by {}", stage,
                           a.state.stage_name(nest.with, nest.with_stage), nest.origin),
               stage, fmt::format("the same of {}", a.state.stage_name(nest.with, nest.with_stage)));
}

void bind_axes(Application& a, const std::vector<LoopId>& loops, ir::Binding binding) {
  const bool block = binding == ir::Binding::GpuBlock;
  if (!block) require_apart(a, loops.front(), ir::ThreadPart::Whole);
  int axis = static_cast<int>(bound_loops(a.state, a.func, a.stage, binding).size());
  for (LoopId loop : loops) {
    require_bindable(a, loop);
    if (axis == 3)
      a.refuse(fmt::format("a fourth {} loop", block ? "block" : "thread"), a.state.loop(loop).name,
               "three at most: x, y and z; fuse makes one loop of two");
    bind_loop(a, loop, binding, axis++);
  }
}

void check_gpu(State& state) {
  for (const lang::FuncDef& f : state.out.graph.funcs) {
    if (state.out.of(f.id).compute.kind == Place::Kind::Inline) continue;
    for (int i = 0; i < static_cast<int>(f.stages.size()); i++) StageCheck(state, f.id, i).run();
    check_place(state, f.id);
    if (state.funcs[f.id.value].memory_directive >= 0) check_memory(state, f.id);
  }
}

void require_global_memory(const Application& a, FuncId func) {
  const FuncSchedule& f = a.state.out.of(func);
  if (!a.state.out.target.is_gpu() || f.compute.kind != Place::Kind::At || f.memory == Memory::Global) return;
  const std::string& name = a.state.def(func).name;
  a.refuse(fmt::format("'{}' is computed inside a kernel and not in global memory", name), name,
           "compute_root, or store_in(global)");
}

}  // namespace calotype::schedule
