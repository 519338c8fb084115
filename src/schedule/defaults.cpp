// The defaults, version 1.
//
// Place: a pure Func that is no output is inlined if it has one call site, or if its definition, with what is
// inlined into it, costs at most 16 operations; but not if it is read at more than 4 points through a
// boundary (coordinates that are clamped, wrapped or selected), which would repeat the boundary's arithmetic
// for each. Loops on a host: dimension 0 vectorised, the outermost pure loop parallel. On a GPU: all
// pure loops fused and cut into blocks of 256 threads, everything else serial inside a thread.
#include "schedule/defaults.h"

#include <algorithm>
#include <set>

#include "schedule/loops.h"

namespace calotype::schedule {

namespace {

constexpr int most_inlined_operations = 16;
constexpr int most_boundary_reads = 4;
constexpr std::int64_t threads_per_block = 256;
constexpr int vector_bytes = 64;
constexpr int least_lanes = 4;
constexpr int most_lanes = 32;

struct ByStructure {
  bool operator()(const Expr& a, const Expr& b) const { return ir::compare(a, b) < 0; }
};
/// Distinct expressions: how an algorithm shares nodes must not change its default schedule.
using Distinct = std::set<Expr, ByStructure>;

void collect(const Expr& e, Distinct& all) {
  if (e.defined()) ir::visit(e, [&](const Expr& n) { all.insert(n); });
}

Distinct nodes_of(const lang::StageDef& s) {
  Distinct all;
  for (const Expr& e : s.lhs) collect(e, all);
  collect(s.value, all);
  collect(s.predicate, all);
  return all;
}

bool bends_coordinates(const Expr& e) {
  switch (e->op) {
    case ir::Op::Min:
    case ir::Op::Max:
    case ir::Op::Select:
    case ir::Op::Mod:
    case ir::Op::Abs:
      return true;
    default:
      return false;
  }
}

/// Call sites with clamped, wrapped or mirrored coordinates.
bool boundary_call(const Expr& call) {
  return std::any_of(call->args.begin(), call->args.end(),
                     [](const Expr& arg) { return ir::any_of(arg, bends_coordinates); });
}

/// Where a Func is read: distinct calls, counted once a stage that has them.
struct Uses {
  int sites = 0;
  bool through_boundary =
      false;  ///< one of them at bent coordinates, or the Func is a boundary condition itself
};

std::vector<Uses> uses_of_all(const lang::Graph& graph) {
  std::vector<Uses> uses(graph.funcs.size());
  for (const lang::FuncDef& f : graph.funcs)
    for (const lang::StageDef& s : f.stages)
      for (const Expr& n : nodes_of(s)) {
        if (!ir::is(n, ir::Op::Call)) continue;
        const bool bent = boundary_call(n);
        uses[f.id.value].through_boundary |= bent;
        const ir::CalleePtr& callee = ir::callee_of(n);
        if (callee->kind != ir::CalleeKind::Func || callee->index == f.id.value) continue;
        uses[callee->index].sites++;
        uses[callee->index].through_boundary |= bent;
      }
  return uses;
}

int operations(const lang::FuncDef& f, const std::vector<int>& cost, const std::vector<bool>& inlined) {
  int count = 0;
  for (const Expr& n : nodes_of(f.stages[0])) {
    const bool call = ir::is(n, ir::Op::Call);
    const bool free = call || n->args.empty() || n->op == ir::Op::Likely || n->op == ir::Op::Strict;
    count += free ? 0 : 1;
    if (call && ir::callee_of(n)->kind == ir::CalleeKind::Func && inlined[ir::callee_of(n)->index])
      count += cost[ir::callee_of(n)->index];
  }
  return count;
}

}  // namespace

std::vector<bool> inlined_by_default(const lang::Graph& graph) {
  std::vector<bool> inlined(graph.funcs.size(), false);
  std::vector<int> cost(graph.funcs.size(), 0);
  const std::vector<Uses> uses = uses_of_all(graph);
  for (const lang::FuncDef& f : graph.funcs) {  // producers first: their cost is part of their consumers'
    if (f.stages.size() > 1 || graph.is_output(f.id) || graph.is_boxed(f.id)) continue;
    cost[f.id.value] = operations(f, cost, inlined);
    const Uses& own = uses[f.id.value];
    if (own.through_boundary && own.sites > most_boundary_reads) continue;
    inlined[f.id.value] = own.sites == 1 || cost[f.id.value] <= most_inlined_operations;
  }
  return inlined;
}

void default_places(State& state) {
  const std::vector<bool> inlined = inlined_by_default(state.original);
  for (const lang::FuncDef& f : state.out.graph.funcs) {
    const FuncState& own = state.funcs[f.id.value];
    if (own.compute_directive >= 0) continue;
    FuncSchedule& s = state.out.funcs[f.id.value];
    s.compute.kind = !own.made && inlined[f.id.value] ? Place::Kind::Inline : Place::Kind::Root;
    s.compute_origin = "default";
  }
}

namespace {

/// Bytes of the widest type that the stage computes with; 64-bit coordinates do not count.
int widest_bytes(const lang::FuncDef& f, const lang::StageDef& s) {
  int bytes = 1;
  for (const Type& type : f.types) bytes = std::max(bytes, type.bytes());
  std::function<void(const Expr&)> look = [&](const Expr& e) {
    if (e.type() != Int(64)) bytes = std::max(bytes, e.type().bytes());
    if (ir::is(e, ir::Op::Call)) return;
    for (const Expr& arg : e->args) look(arg);
  };
  look(s.value);
  return bytes;
}

void host_loops(Application& a) {
  const int lanes =
      std::clamp(vector_bytes / widest_bytes(a.func_def(), a.stage_def()), least_lanes, most_lanes);
  if (a.func_def().rank() > 0 && a.loops().dims[0].valid()) {
    const LoopId loop = a.loops().dims[0];
    const std::string name = a.state.loop(loop).name;
    bind_loop(a, split_loop(a, loop, name + ".o", name + ".v", lanes, Tail::Auto).inner, ir::Binding::Vector);
  }
  const std::vector<LoopId> loops = a.loops().loops;
  if (loops.empty()) return;
  const LoopId outermost = loops.back();
  if (a.state.loop(outermost).binding == ir::Binding::Serial && !a.state.loop(outermost).reduction)
    bind_loop(a, outermost, ir::Binding::Parallel);
}

void gpu_loops(Application& a) {
  std::vector<LoopId> free;
  for (LoopId loop : a.loops().loops)
    if (!a.state.loop(loop).reduction) free.push_back(loop);
  if (free.empty()) return;  // one block of one thread
  LoopId all = free[0];
  for (std::size_t i = 1; i < free.size(); i++)
    all = fuse_loops(a, all, free[i], a.state.loop(all).name + "." + a.state.loop(free[i]).name);
  std::vector<LoopId> order = a.loops().loops;
  order.erase(std::find(order.begin(), order.end(), all));
  order.push_back(all);
  reorder_loops(a, order);
  const std::string name = a.state.loop(all).name;
  const SplitLoops made = split_loop(a, all, name + ".b", name + ".t", threads_per_block, Tail::Auto);
  bind_loop(a, made.outer, ir::Binding::GpuBlock);
  bind_loop(a, made.inner, ir::Binding::GpuThread);
}

}  // namespace

void default_loops(State& state) {
  for (const lang::FuncDef& f : state.out.graph.funcs) {
    if (state.out.of(f.id).compute.kind != Place::Kind::Root) continue;
    for (int i = 0; i < static_cast<int>(f.stages.size()); i++) {
      const StageState& own = state.stage(f.id, i);
      if (own.directed || own.referred) continue;
      Application a(state, f.id, i);
      if (state.out.target.is_gpu()) {
        gpu_loops(a);
      } else {
        host_loops(a);
      }
    }
  }
}

}  // namespace calotype::schedule
