// Thread groups: how many threads a block has, and which of them combine their partial results of an update.
//
// Requires: resolved loops. Leaves: KernelInfo::threads, the largest extent that a loop along each axis has;
// where lanes are combined, x is a power of two up to a warp, and whole warps beyond, so that a group never
// begins or ends within one: threads that are added this way, and those that a shorter loop does not use,
// have the identity and take part. A Reduce node stands around the loops with partial results; loops of the
// stage around it run in all threads of the block alike, with a guard for iterations that there are none of,
// since barriers and shuffles stand inside. The first part of the tiles pass.

#include "lower/thread_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "lower/partial_results.h"
#include "schedule/gpu.h"
#include "schedule/lane_nest.h"

namespace calotype::lower {
namespace {

using Digit = ThreadReduction::Digit;

constexpr std::int64_t kWarpLanes = schedule::warp_lanes;

std::int64_t warps_of(std::int64_t threads) { return (threads + kWarpLanes - 1) / kWarpLanes; }

bool is_thread_loop(const LoopInfo& loop) { return loop.binding == ir::Binding::GpuThread; }

class ThreadGroups {
 public:
  explicit ThreadGroups(LoopTree& tree) : tree_(tree) {}

  KernelInfo run(Node& nest) {
    measure(nest);
    round_up();
    for (const StageRef stage : reducing_) {
      tree_.reductions[stage] = describe(stage);
      run_whole_blocks_around(stage);
      const schedule::LaneNest loops = lanes_of(stage);
      insert(nest, stage, loops.around);
    }
    return kernel_;
  }

 private:
  [[noreturn]] void refuse(const LoopInfo& loop, std::string message, std::string value,
                           std::string legal) const {
    const lang::FuncDef& func = tree_.func(loop.owner.func);
    throw Error({.kind = ErrorKind::Schedule,
                 .message = std::move(message),
                 .func = func.name,
                 .stage = lang::stage_name(func, loop.owner.stage),
                 .directive = loop.origin,
                 .value = std::move(value),
                 .legal = std::move(legal)});
  }

  schedule::LaneNest lanes_of(StageRef stage) const {
    const bool in_order = !schedule::prove_associative(tree_.func(stage.func), tree_.def(stage)).commutative;
    return schedule::lane_nest(tree_.scheduled, stage.func, stage.stage, in_order);
  }

  // ---- How many threads

  void measure(const Node& nest) {
    visit(nest, [&](const Node& node, const std::vector<const Node*>& around) {
      if (node.kind == NodeKind::Body) note_reduction(node.stage, around);
      if (node.kind != NodeKind::Loop) return;
      const LoopInfo& loop = tree_.loop(node.loop);
      if (loop.binding == ir::Binding::GpuCluster) measure_cluster(loop);
      if (!is_thread_loop(loop)) return;
      const std::int64_t extent = constant_extent(tree_, loop, "thread loop", loop.origin);
      if (loop.part == ir::ThreadPart::Whole) {
        kernel_.threads[loop.axis] = std::max(kernel_.threads[loop.axis], extent);
        if (loop.axis > 0 && extent > 1) other_axis_ = &loop;
        return;
      }
      part_ = &loop;
      const bool lane = loop.part == ir::ThreadPart::Lane;
      if (lane && extent > kWarpLanes)
        refuse(loop, fmt::format("{} lanes", extent), std::to_string(extent), "at most 32; gpu_threads");
      kernel_.threads[0] = std::max(kernel_.threads[0], lane ? extent : extent * kWarpLanes);
      any_warps_ |= !lane;
    });
    if (part_ && other_axis_)
      refuse(*part_,
             fmt::format("'{}' counts lanes and warps of threads along x, and '{}' is along {}", part_->name,
                         other_axis_->name, "xyz"[other_axis_->axis]),
             part_->name, "threads along x alone in this block, or gpu_threads here too");
  }

  void measure_cluster(const LoopInfo& loop) {
    const std::int64_t blocks = constant_extent(tree_, loop, "cluster loop", loop.origin);
    const std::int64_t most = schedule::most_cluster_blocks(tree_.scheduled.target);
    if (blocks > most)
      refuse(loop, fmt::format("a cluster of {} blocks", blocks), std::to_string(blocks),
             fmt::format("at most {} on {}", most, tree_.scheduled.target.str()));
    kernel_.cluster = std::max(kernel_.cluster, blocks);
  }

  void note_reduction(StageRef stage, const std::vector<const Node*>& around) {
    if (tree_.def(stage).function()) return;
    const schedule::LaneNest nest = lanes_of(stage);
    if (!nest.by_threads()) return;
    reducing_.push_back(stage);
    for (const Node* node : around)
      if (node->kind == NodeKind::Loop && is_thread_loop(tree_.loop(node->loop)))
        bound_axes_[stage].insert(tree_.loop(node->loop).axis);
    for (LoopId id : nest.threads)
      combines_lanes_ |= is_thread_loop(tree_.loop(id)) && tree_.loop(id).axis == 0 &&
                         tree_.loop(id).part != ir::ThreadPart::Warp;
  }

  void round_up() {
    std::int64_t& x = kernel_.threads[0];
    if (any_warps_ || (x > kWarpLanes && (combines_lanes_ || part_))) x = warps_of(x) * kWarpLanes;
    if (x < kWarpLanes && combines_lanes_)
      x = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(x)));
  }

  // ---- A reduction

  ThreadReduction describe(StageRef stage) const {
    const schedule::LaneNest nest = lanes_of(stage);
    ThreadReduction r;
    bool parts = false;
    for (LoopId id : tree_.schedule_of(stage).loops)
      parts |= is_thread_loop(tree_.loop(id)) && tree_.loop(id).part != ir::ThreadPart::Whole;
    for (LoopId id : nest.threads) reduce_over(tree_.loop(id), r);
    const std::int64_t x = kernel_.threads[0];
    r.extents = {1, x, 1, kernel_.threads[1], kernel_.threads[2], kernel_.cluster};
    if (r.reduced[Digit::Lane] || parts) {
      r.extents[Digit::Lane] = std::min(x, kWarpLanes);
      r.extents[Digit::Warp] = warps_of(x);
    } else if (r.reduced[Digit::Y] && x < kWarpLanes && kWarpLanes % x == 0) {
      split_y(kWarpLanes / x, r);
    }
    leave_out_unbound(stage, r);
    return r;
  }

  void leave_out_unbound(StageRef stage, ThreadReduction& r) const {
    const auto bound = bound_axes_.find(stage);
    for (const auto& [axis, digit] : {std::pair(0, Digit::Warp), {1, Digit::Y}, {2, Digit::Z}}) {
      if (bound != bound_axes_.end() && bound->second.contains(axis)) continue;
      r.alike[axis] = r.extents[digit];
      r.extents[digit] = 1;
    }
  }

  /// Where whole warps have `lanes` positions along y.
  static void split_y(std::int64_t lanes, ThreadReduction& r) {
    std::int64_t& along_y = r.extents[Digit::Y];
    if (along_y % lanes != 0) return;
    along_y /= lanes;
    r.used[Digit::Y] = (r.used[Digit::Y] + lanes - 1) / lanes;
    r.extents[Digit::LaneY] = r.used[Digit::LaneY] = lanes;
    r.reduced[Digit::LaneY] = true;
  }

  void reduce_over(const LoopInfo& loop, ThreadReduction& r) const {
    const std::int64_t extent = constant_extent(tree_, loop, "loop with partial results", loop.origin);
    const auto over = [&](Digit d, std::int64_t used) {
      r.reduced[d] = true;
      r.used[d] = used;
    };
    if (loop.binding == ir::Binding::GpuCluster) return over(Digit::Rank, extent);
    if (loop.axis == 0 && loop.part != ir::ThreadPart::Warp) over(Digit::Lane, std::min(extent, kWarpLanes));
    if (loop.axis == 0 && loop.part == ir::ThreadPart::Whole) over(Digit::Warp, warps_of(extent));
    if (loop.part == ir::ThreadPart::Warp) over(Digit::Warp, extent);
    if (loop.axis > 0) over(loop.axis == 1 ? Digit::Y : Digit::Z, extent);
  }

  /// Threads in which a loop of the stage around the reduction has no iteration take part all the same.
  void run_whole_blocks_around(StageRef stage) {
    const schedule::LaneNest nest = lanes_of(stage);
    std::vector<ir::SymbolPtr> threads;  // loops around that are bound to them
    const std::vector<LoopId>& loops = tree_.schedule_of(stage).loops;
    for (auto id = loops.rbegin(); id != loops.rend() && *id != nest.around; ++id) {
      LoopInfo& loop = tree_.loop(*id);
      const bool varies = std::any_of(threads.begin(), threads.end(),
                                      [&](const ir::SymbolPtr& s) { return ir::uses(loop.extent, s); });
      if (is_thread_loop(loop) || loop.binding == ir::Binding::GpuCluster) {
        run_to(tree_, loop, all_positions(loop, kernel_), stage);
        threads.push_back(loop.var);
      } else if (varies) {
        run_to(tree_, loop, constant_extent(tree_, loop, "loop around a reduction by threads", loop.origin),
               stage);
      }
    }
  }

  void insert(Node& node, StageRef stage, LoopId around) {
    if (node.kind == NodeKind::Loop && node.loop == around) {
      Node reduce{.kind = NodeKind::Reduce, .stage = stage};
      reduce.children.push_back(std::move(node));
      if (tree_.reductions.at(stage).exchanges())
        reduce.children.push_back({.kind = NodeKind::Send, .stage = stage});
      reduce.children.push_back({.kind = NodeKind::Combine, .stage = stage});
      node = std::move(reduce);
      return;
    }
    for (Node& child : node.children) insert(child, stage, around);
  }

  LoopTree& tree_;
  KernelInfo kernel_;
  std::vector<StageRef> reducing_;
  std::map<StageRef, std::set<int>>
      bound_axes_;                        ///< axes of threads that loops around a reduction are bound to
  const LoopInfo* part_ = nullptr;        ///< a loop bound to lanes or warps
  const LoopInfo* other_axis_ = nullptr;  ///< one bound to y or z
  bool any_warps_ = false, combines_lanes_ = false;
};

}  // namespace

std::int64_t constant_extent(const LoopTree& tree, const LoopInfo& loop, const char* what,
                             const std::string& directive) {
  if (const auto bound = ir::constant_upper_bound(loop.extent, tree.facts))
    return std::max<std::int64_t>(*bound, 1);
  const lang::FuncDef& func = tree.func(loop.owner.func);
  throw Error({.kind = ErrorKind::Schedule,
               .message = fmt::format("the extent of {} '{}' has no constant bound", what, loop.name),
               .func = func.name,
               .stage = lang::stage_name(func, loop.owner.stage),
               .directive = directive,
               .value = ir::to_string(loop.extent),
               .legal = "split it by a constant first, or bound its dimension"});
}

std::int64_t all_positions(const LoopInfo& loop, const KernelInfo& kernel) {
  if (loop.binding == ir::Binding::GpuCluster) return kernel.cluster;
  switch (loop.part) {
    case ir::ThreadPart::Lane:
      return std::min(kernel.threads[0], kWarpLanes);
    case ir::ThreadPart::Warp:
      return warps_of(kernel.threads[0]);
    default:
      return kernel.threads[loop.axis];
  }
}

void run_to(LoopTree& tree, LoopInfo& loop, std::int64_t extent, StageRef stage) {
  if (ir::prove_equal(loop.extent, ir::index(extent), tree.facts)) return;
  const Expr there = ir::make_var(loop.var) - loop.min < loop.extent;
  tree.stages.at(stage).guards.push_back({there, Tail::Predicate, loop.origin});
  if (!loop.needed.defined()) loop.needed = loop.extent;
  loop.extent = ir::index(extent);
  tree.facts.set_range(loop.var, loop.min, ir::simplify(loop.min + ir::index(extent - 1), tree.facts));
}

KernelInfo group_threads(LoopTree& tree, Node& nest) { return ThreadGroups(tree).run(nest); }

}  // namespace calotype::lower
