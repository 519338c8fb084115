// The checks of invariants.h.

#include "lower/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace calotype::lower {

#ifdef NDEBUG

void check_placed(const LoopTree&) {}
void check_bounds(const LoopTree&) {}
void check_tiles(const LoopTree&) {}
void check_pipeline(const LoopTree&) {}
void check_memory(const LoopTree&) {}
void check_program(const Program&) {}

#else

namespace {

void expect(bool holds, const char* pass, const std::string& func, const std::string& what) {
  if (holds) return;
  throw Error(
      {.kind = ErrorKind::Internal, .message = fmt::format("after pass '{}': {}", pass, what), .func = func});
}

void check_expr(const Expr& root, const Function& f, const std::set<std::uint64_t>& bound) {
  std::set<std::uint64_t> local = bound;
  ir::visit(root, [&](const Expr& e) {
    if (ir::is(e, ir::Op::Let)) local.insert(ir::symbol_of(e)->unique);
  });
  ir::visit(root, [&](const Expr& e) {
    expect(!ir::is(e, ir::Op::Call), "program", f.name, "a Call is left: " + ir::to_string(e));
    if (ir::is(e, ir::Op::Variable))
      expect(local.count(ir::symbol_of(e)->unique) > 0, "program", f.name,
             "'" + ir::symbol_of(e)->name + "' is neither an argument nor bound");
    const ir::OpGroup group = ir::info(e->op).group;
    if (group == ir::OpGroup::arith || group == ir::OpGroup::compare || group == ir::OpGroup::logic)
      for (const Expr& a : e->args)
        expect(a->type.lanes == e->type.lanes, "program", f.name, "lanes differ in " + ir::to_string(e));
    if (ir::is(e, ir::Op::Load)) expect(e->args.size() == 1, "program", f.name, "an access is not flat");
  });
}

void check_stmt(const ir::Stmt& s, const Function& f, std::set<std::uint64_t> bound) {
  for (const Expr& e : s->exprs)
    if (e.defined()) check_expr(e, f, bound);
  if (s->kind == ir::StmtKind::Let) bound.insert(s->symbol()->unique);
  if (s->kind == ir::StmtKind::For) {
    bound.insert(s->loop().var->unique);
    const ir::Binding b = s->loop().binding;
    expect(b == ir::Binding::Serial || (b == ir::Binding::Parallel && !f.gpu), "program", f.name,
           fmt::format("a {} loop is left", ir::to_string(b)));
  }
  if (s->kind == ir::StmtKind::Store)
    expect(s->exprs.size() == (s->box()      ? 4u + s->box()->box.size()
                               : s->bulk()   ? 6u
                               : s->remote() ? 4u
                                             : 3u),
           "program", f.name, "an access is not flat");
  for (const ir::Stmt& child : s->stmts) check_stmt(child, f, bound);
}

}  // namespace

void check_placed(const LoopTree& tree) {
  std::map<StageRef, int> bodies;
  visit(tree.root, [&](const Node& node, const std::vector<const Node*>& chain) {
    if (node.kind != NodeKind::Body) return;
    ++bodies[node.stage];
    std::size_t own = 0;
    for (LoopId id : tree.schedule_of(node.stage).loops)
      own += std::count_if(chain.begin(), chain.end(), [&](const Node* n) {
        return n->kind == NodeKind::Loop && n->loop == tree.scheduled.shared_loop(id);
      });
    expect(own == tree.schedule_of(node.stage).loops.size(), "place", tree.func(node.stage.func).name,
           "a body is not inside the loops of its stage");
  });
  for (FuncId id : tree.scheduled.order) {
    if (tree.inlined(id)) continue;
    for (std::size_t s = 0; s < tree.func(id).stages.size(); ++s) {
      const StageRef ref{id, static_cast<int>(s)};
      expect(bodies[ref] == 1, "place", tree.func(id).name, "a stage has no body, or several");
      for (const Expr& call : calls_in(tree.def(ref))) {
        const ir::Callee& callee = *ir::callee_of(call);
        expect(callee.kind == ir::CalleeKind::Input || !tree.inlined(FuncId{callee.index}), "inline",
               tree.func(id).name, "an inlined Func is still called");
      }
    }
  }
}

void check_bounds(const LoopTree& tree) {
  visit(tree.root, [&](const Node& node, const std::vector<const Node*>&) {
    if (node.kind == NodeKind::Loop) {
      const LoopInfo& loop = tree.loop(node.loop);
      expect(loop.var && loop.min.defined() && loop.extent.defined(), "bounds",
             tree.func(node.stage.func).name, "loop '" + loop.name + "' has no extent");
    }
    if (node.kind == NodeKind::Body)
      expect(tree.stages.count(node.stage) == 1, "bounds", tree.func(node.stage.func).name,
             "a stage has no region");
    if (node.kind == NodeKind::Realize)
      expect(tree.storage.count(node.func) == 1, "bounds", tree.func(node.func).name,
             "a stored Func has no box");
  });
}

void check_tiles(const LoopTree& tree) {
  visit(tree.root, [&](const Node& node, const std::vector<const Node*>& chain) {
    if (node.kind != NodeKind::Loop || tree.loop(node.loop).binding != ir::Binding::GpuThread) return;
    bool in_threads_of_axis = false;
    for (const Node* n : chain)
      in_threads_of_axis |= n->kind == NodeKind::Loop &&
                            tree.loop(n->loop).binding == ir::Binding::GpuThread &&
                            tree.loop(n->loop).axis == tree.loop(node.loop).axis &&
                            tree.loop(n->loop).part == tree.loop(node.loop).part;
    expect(!in_threads_of_axis, "tiles", tree.func(node.stage.func).name,
           "a thread loop stands inside one of its axis");
  });
}

void check_pipeline(const LoopTree& tree) {
  visit(tree.root, [&](const Node& node, const std::vector<const Node*>&) {
    if (node.kind == NodeKind::Body)
      expect(node.instruction != nullptr, "pipeline", tree.func(node.stage.func).name,
             "a body has no instruction");
  });
}

void check_memory(const LoopTree& tree) {
  for (const auto& [func, storage] : tree.storage) {
    expect(storage.buffers.size() == tree.func(func).types.size(), "memory", tree.func(func).name,
           "a stored Func has not a buffer for each component");
    for (const ir::BufferPtr& buffer : storage.buffers) {
      if (buffer->space == ir::MemorySpace::Heap || buffer->space == ir::MemorySpace::Global) continue;
      for (const Expr& e : buffer->extents)
        expect(ir::as_int(e).has_value(), "memory", tree.func(func).name,
               "its storage has no constant extent");
    }
  }
}

void check_program(const Program& program) {
  for (const Function& f : program.functions) {
    std::set<std::uint64_t> bound;
    for (const ir::SymbolPtr& s : f.scalars) bound.insert(s->unique);
    if (f.resident_blocks) bound.insert(f.resident_blocks->unique);
    for (const ir::RingPtr& ring : f.rings)
      if (ring->turn) bound.insert(ring->turn->unique);
    for (int axis = 0; axis < 3; ++axis) {
      if (f.block_vars[axis]) bound.insert(f.block_vars[axis]->unique);
      if (f.thread_vars[axis]) bound.insert(f.thread_vars[axis]->unique);
    }
    check_stmt(f.body, f, bound);
  }
}

#endif

}  // namespace calotype::lower
