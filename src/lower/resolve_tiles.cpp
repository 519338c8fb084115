// Tiles: inside a GPU block, which thread holds and computes what.
//
// Requires: resolved loops. Leaves: LoopTree::kernels with the threads of each block; every nest inside a
// block bound to threads, or run by one thread, or replicated in each (registers); a Layout for Register
// storage of a whole block, and how stages read what other threads hold in it. A stage that the schedule
// leaves unbound and stores in shared memory is dealt out here: its pure loops become rounds of a loop over
// each axis of the block's threads. Stands after bounds, which gives the shapes, and before memory, which
// lays them out. Nothing to do on the host.

#include <fmt/format.h>

#include <algorithm>

#include "lower/convert_layouts.h"
#include "lower/passes.h"
#include "lower/split_roles.h"
#include "lower/tensor_tiles.h"
#include "lower/thread_groups.h"
#include "schedule/gpu.h"

namespace calotype::lower {
namespace {

using schedule::Transform;

bool is_bound(const LoopInfo& loop, ir::Binding binding) { return loop.binding == binding; }

constexpr const char* kDealtOut = "dealt out to the block's threads";

class Tiles {
 public:
  explicit Tiles(LoopTree& tree) : tree_(tree) {}

  void run() { visit_root(tree_.root); }

 private:
  // Root nests stand in the productions under the root's realisations.
  void visit_root(Node& node) {
    for (Node& child : node.children) {
      if (node.kind == NodeKind::Produce)
        kernel(child);
      else
        visit_root(child);
    }
  }

  void kernel(Node& nest) {
    const StageRef stage = nest.stage;
    KernelInfo info = group_threads(tree_, nest);
    give_roles(tree_, stage.func, info);
    choose_tensor_tiles(tree_, nest, info);
    kernel_ = &info;
    deal_tensor_tiles(tree_, nest);
    deal_out(nest, false);
    find_layouts(nest);
    const std::int64_t total = info.all_threads();
    if (total > 1024)
      refuse(stage, fmt::format("a block of {} threads", total), std::to_string(total),
             "at most 1024 threads a block", binds_most(nest));
    convert_layouts(tree_, info, nest);
    tree_.kernels[stage] = info;
  }

  /// The directive of the longest loop that is bound to threads: those of a block come from all of its
  /// stages.
  std::string binds_most(const Node& nest) {
    const LoopInfo* longest = nullptr;
    std::int64_t most = 0;
    visit(nest, [&](const Node& node, const std::vector<const Node*>&) {
      if (node.kind != NodeKind::Loop || tree_.loop(node.loop).binding != ir::Binding::GpuThread) return;
      const LoopInfo& loop = tree_.loop(node.loop);
      const std::int64_t extent = constant_extent(tree_, loop, "thread loop", loop.origin);
      if (extent > most && loop.origin != kDealtOut) longest = &loop, most = extent;
    });
    return longest ? longest->origin : "";
  }

  [[noreturn]] void refuse(StageRef stage, std::string message, std::string value, std::string legal,
                           std::string directive = {}) {
    throw Error({.kind = ErrorKind::Schedule,
                 .message = std::move(message),
                 .func = tree_.func(stage.func).name,
                 .stage = lang::stage_name(tree_.func(stage.func), stage.stage),
                 .directive = std::move(directive),
                 .value = std::move(value),
                 .legal = std::move(legal)});
  }

  // ---- Unbound nests

  static bool is_chain(const Node& node) {
    if (node.kind == NodeKind::Body) return true;
    return node.kind == NodeKind::Loop && node.children.size() == 1 && is_chain(node.children[0]);
  }

  bool has_threads(const Node& node) {
    bool found = false;
    visit(node, [&](const Node& n, const std::vector<const Node*>&) {
      found |= n.kind == NodeKind::Loop && is_bound(tree_.loop(n.loop), ir::Binding::GpuThread);
    });
    return found;
  }

  void deal_out(Node& node, bool inside_threads) {
    if (node.kind == NodeKind::Loop)
      inside_threads |= is_bound(tree_.loop(node.loop), ir::Binding::GpuThread);
    if (inside_threads) return;
    const bool block_loop =
        node.kind == NodeKind::Loop && is_bound(tree_.loop(node.loop), ir::Binding::GpuBlock);
    if (node.kind == NodeKind::Loop && !block_loop && is_chain(node) && !has_threads(node)) {
      if (shared_by_block(node.stage.func)) deal_out_chain(node);
      return;
    }
    for (Node& child : node.children) deal_out(child, inside_threads);
  }

  /// Written once for the block, not by every thread for itself; by the threads, not in bulk.
  bool shared_by_block(FuncId func) {
    const schedule::FuncSchedule& sched = tree_.scheduled.of(func);
    return sched.memory != Memory::Register && sched.memory != Memory::Local &&
           !schedule::is_counted(sched.copy);
  }

  /// Turn the pure serial loops of a chain into rounds of all the block's threads.
  void deal_out_chain(Node& chain) {
    std::vector<LoopId> pure, kept;  // outermost first
    for (Node* n = &chain; n->kind == NodeKind::Loop; n = &n->children[0]) {
      const LoopInfo& loop = tree_.loop(n->loop);
      const bool dealt = !loop.reduction && loop.binding == ir::Binding::Serial &&
                         ir::constant_upper_bound(loop.extent, tree_.facts).has_value();
      (dealt ? pure : kept).push_back(n->loop);
    }
    if (pure.empty()) return;
    const StageRef stage = chain.stage;
    const std::string name = tree_.loop(pure.back()).name;
    std::vector<LoopId> order{tree_.add_loop(stage, name + ".o", ir::Binding::Serial, kDealtOut)};
    tree_.loop(order[0]).partition = ir::Partition::Never;  // few rounds, each of which tests where it ends
    for (int axis = 2; axis >= 0; --axis) {
      if (axis > 0 && kernel_->threads[axis] == 1) continue;
      order.push_back(tree_.add_loop(stage,
                                     axis == 0 ? name + ".t" : fmt::format("{}.t{}", name, "xyz"[axis]),
                                     ir::Binding::GpuThread, kDealtOut));
      tree_.loop(order.back()).axis = axis;
      tree_.loop(order.back()).extent = ir::index(kernel_->threads[axis]);
    }
    replace_loops(stage, pure, order);
    Node body{.kind = NodeKind::Body, .stage = stage};
    order.insert(order.end(), kept.begin(), kept.end());
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      Node loop{.kind = NodeKind::Loop, .stage = stage, .loop = *it};
      loop.children.push_back(std::move(body));
      body = std::move(loop);
    }
    chain = std::move(body);
  }

  // With constant shapes the flat position of an element decodes into loop values by constant divisions.
  // `made`: the loop over rounds, then those over threads, x innermost.
  void replace_loops(StageRef stage, const std::vector<LoopId>& pure, const std::vector<LoopId>& made) {
    Expr flat = ir::index(0);
    std::int64_t threads = 1;
    for (auto it = made.rbegin(); it != made.rend(); ++it) {
      flat = flat + ir::make_var(tree_.loop(*it).var) * ir::index(threads);
      if (*it != made.front()) threads *= *ir::as_int(tree_.loop(*it).extent);
    }
    ir::Substitution values;
    StageInfo& info = tree_.stages.at(stage);
    std::int64_t total = 1;
    for (auto it = pure.rbegin(); it != pure.rend(); ++it) {  // innermost first
      const LoopInfo& loop = tree_.loop(*it);
      const std::int64_t extent = *ir::constant_upper_bound(loop.extent, tree_.facts);
      Expr digit = flat / ir::index(total);
      if (it + 1 != pure.rend()) digit = digit % ir::index(extent);
      values.emplace_back(loop.var, loop.min + digit);
      if (!ir::prove_equal(loop.extent, ir::index(extent), tree_.facts) || it + 1 == pure.rend())
        info.guards.push_back({digit < loop.extent, Tail::Predicate, kDealtOut});
      total *= extent;
    }
    tree_.loop(made.front()).extent = ir::index((total + threads - 1) / threads);
    for (LoopId id : made) {
      const LoopInfo& loop = tree_.loop(id);
      tree_.facts.set_range(loop.var, loop.min, ir::simplify(loop.extent - ir::index(1)));
    }
    for (Expr& e : info.coordinates)
      if (e.defined()) e = ir::simplify(ir::substitute(e, values), tree_.facts);
    for (Guard& g : info.guards) g.condition = ir::simplify(ir::substitute(g.condition, values), tree_.facts);
    std::erase_if(info.guards, [](const Guard& g) { return ir::is_one(g.condition); });
  }

  // ---- Registers of a block, shared memory of a cluster

  void find_layouts(const Node& nest) {
    visit(nest, [&](const Node& node, const std::vector<const Node*>& chain) {
      if (node.kind != NodeKind::Realize || !is_dealt_out(node.func)) return;
      for (const Node* n : chain)
        if (n->kind == NodeKind::Loop && is_bound(tree_.loop(n->loop), ir::Binding::GpuThread)) return;
      Storage& storage = tree_.storage.at(node.func);
      if (storage.layout) return;  // an instruction's
      storage.layout = layout_of(node.func, storage.shape);
      require_one_production(node.func, storage);
    });
  }

  /// Registers are a thread's; shared memory is a block's, of which a cluster has several.
  bool is_dealt_out(FuncId func) {
    const schedule::FuncSchedule& sched = tree_.scheduled.of(func);
    if (sched.memory != Memory::Shared) return sched.memory == Memory::Register;
    const std::vector<LoopId>& loops = sched.stages[0].loops;
    return std::any_of(loops.begin(), loops.end(),
                       [&](LoopId id) { return is_bound(tree_.loop(id), ir::Binding::GpuCluster); });
  }

  /// A layout deals out what is computed at once. What is stored for longer must not be more than that.
  void require_one_production(FuncId func, const Storage& storage) {
    const schedule::FuncSchedule& sched = tree_.scheduled.of(func);
    if (site_loops(tree_, sched.store) == site_loops(tree_, sched.compute)) return;
    for (std::size_t d = 0; d < storage.shape.size(); ++d) {
      const std::int64_t held = storage.layout->extent(static_cast<int>(d));
      if (storage.shape[d] >= 0 && storage.shape[d] <= held) continue;
      refuse({func, 0},
             fmt::format(
                 "'{}' is stored outside the loop where it is computed, and the {} hold what is computed at "
                 "once: {} along '{}'",
                 tree_.func(func).name,
                 sched.memory == Memory::Shared ? "blocks of a cluster" : "registers of a block", held,
                 tree_.func(func).args[d]->name),
             storage.shape[d] < 0 ? "no constant bound" : std::to_string(storage.shape[d]),
             sched.memory == Memory::Shared
                 ? "storage at the loop of compute_at"
                 : "storage at the loop of compute_at, or inside the thread loops; or store_in(Shared)",
             sched.memory_origin);
    }
  }

  /// The layout that stage 0's loops bound by hand give; without thread loops every thread holds everything.
  /// In shared memory threads are places like others.
  /// What is stored beyond what they compute, as the room for an update's tail, has registers of its own.
  layout::Layout layout_of(FuncId func, const std::vector<std::int64_t>& shape) {
    const schedule::FuncSchedule& all = tree_.scheduled.of(func);
    const schedule::StageSchedule& sched = all.stages[0];
    const bool one_production = site_loops(tree_, all.store) == site_loops(tree_, all.compute);
    std::vector<layout::Digit> digits;
    std::int64_t registers = 1;
    for (int d = 0; d < tree_.func(func).rank(); ++d) {
      std::int64_t stride = 1;
      for (LoopId id : digits_of(func, sched.dims[d], sched)) {
        const LoopInfo& loop = tree_.loop(id);
        layout::Digit digit{
            .dim = d,
            .stride = stride,
            .extent = constant_extent(tree_, loop, "register loop", tree_.scheduled.of(func).memory_origin)};
        if (is_bound(loop, ir::Binding::GpuThread) && all.memory == Memory::Register) {
          digit.axis = static_cast<layout::Axis>(loop.axis);
          digit.weight = loop.part == ir::ThreadPart::Warp ? schedule::warp_lanes : 1;
        } else if (is_bound(loop, ir::Binding::GpuCluster)) {
          digit.axis = layout::Axis::Rank;
        } else {
          digit.weight = registers;
          registers *= digit.extent;
        }
        stride *= digit.extent;
        digits.push_back(digit);
      }
      if (one_production && shape[d] > stride) {
        const std::int64_t times = (shape[d] + stride - 1) / stride;
        digits.push_back({.dim = d, .stride = stride, .extent = times, .weight = registers});
        registers *= times;
      }
    }
    return layout::Layout(std::move(digits), tree_.func(func).rank());
  }

  /// Loops that a dimension was split into, fastest first.
  std::vector<LoopId> digits_of(FuncId func, LoopId loop, const schedule::StageSchedule& sched) {
    for (const Transform& t : sched.transforms) {
      if (t.kind == Transform::Kind::Fuse && (t.inner == loop || t.outer == loop))
        refuse({func, 0},
               fmt::format("{} cannot be dealt out by a fused loop",
                           tree_.scheduled.of(func).memory == Memory::Shared ? "the memory of a cluster"
                                                                             : "registers of a block"),
               tree_.loop(t.fused).name,
               "splits of each dimension, or store_in(Shared) without a cluster loop", t.origin);
      if (t.kind != Transform::Kind::Split || t.old != loop) continue;
      std::vector<LoopId> result = digits_of(func, t.inner, sched);
      for (LoopId id : digits_of(func, t.outer, sched)) result.push_back(id);
      return result;
    }
    return {loop};
  }

  LoopTree& tree_;
  KernelInfo* kernel_ = nullptr;
};

}  // namespace

void resolve_tiles(LoopTree& tree) {
  if (tree.scheduled.target.is_gpu()) Tiles(tree).run();
}

}  // namespace calotype::lower
