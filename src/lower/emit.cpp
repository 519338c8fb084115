// Emission: statements from the loop tree.
//
// Requires: a complete tree (bounds, memory, sync). Leaves: one Unit on the host, one a root nest on a GPU;
// definitions with coordinates put in, storage accesses flat, guards as soon as their variables are known.
// Loops keep their binding; vector and unrolled loops are expanded by later passes. The last reader of the
// tree.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "calotype/error.h"
#include "lower/passes.h"

namespace calotype::lower {
namespace {

constexpr std::int64_t kLineBytes = 64;  // of a cache

class Emitter {
 public:
  explicit Emitter(const LoopTree& tree)
      : tree_(tree), algebra_(tree.facts), gpu_(tree.scheduled.target.is_gpu()) {}

  std::vector<Unit> run() {
    if (!gpu_) return {{tree_.scheduled.graph.name, std::nullopt, children(tree_.root)}};
    std::vector<Unit> units;
    collect_kernels(tree_.root, units);
    return units;
  }

 private:
  void collect_kernels(const Node& node, std::vector<Unit>& units) {
    for (const Node& child : node.children) {
      if (node.kind != NodeKind::Produce) {
        collect_kernels(child, units);
        continue;
      }
      const StageRef stage = child.stage;
      kernel_ = &tree_.kernels.at(stage);
      std::string name = tree_.scheduled.graph.name + "_" + tree_.func(stage.func).name;
      if (tree_.is_copy(stage))
        name += "_stored";
      else if (stage.stage > 0)
        name += fmt::format("_update{}", stage.stage - 1);
      for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
      units.push_back({std::move(name), stage, if_used(stage.func, emit_node(child))});
    }
  }

  // ---- Nodes

  ir::Stmt children(const Node& node) {
    std::vector<ir::Stmt> stmts;
    for (const Node& child : node.children) stmts.push_back(emit_node(child));
    return ir::block(std::move(stmts));
  }

  ir::Stmt emit_node(const Node& node) {
    switch (node.kind) {
      case NodeKind::Root:
        return children(node);
      case NodeKind::Realize:
        return emit_realize(node);
      case NodeKind::Produce:
        return emit_produce(node);
      case NodeKind::Loop:
        return emit_loop(node);
      case NodeKind::Body:
        return emit_body(node.stage);
      case NodeKind::Sync:
        return ir::barrier(node.reason);
    }
    return nullptr;
  }

  ir::Stmt emit_realize(const Node& node) {
    const Storage& storage = tree_.storage.at(node.func);
    ir::Stmt s = children(node);
    for (auto buffer = storage.buffers.rbegin(); buffer != storage.buffers.rend(); ++buffer)
      s = ir::allocate(*buffer, s);
    for (auto let = storage.lets.rbegin(); let != storage.lets.rend(); ++let)
      s = ir::let_stmt(let->symbol, let->value, s);
    return s;
  }

  ir::Stmt emit_produce(const Node& node) {
    std::string text = "produce " + tree_.func(node.func).name;
    const schedule::FuncSchedule& sched = tree_.scheduled.of(node.func);
    if (!sched.compute_origin.empty()) text += ": " + sched.compute_origin;
    return ir::note(std::move(text), if_used(node.func, children(node)));
  }

  /// A production, where some calls have no use for it.
  ir::Stmt if_used(FuncId func, ir::Stmt production) {
    const auto when = tree_.used_when.find(func);
    return when == tree_.used_when.end() ? production : ir::if_then(when->second, std::move(production));
  }

  ir::Stmt emit_loop(const Node& node) {
    const LoopInfo& loop = tree_.loop(node.loop);
    open_.push_back(node.loop);
    ir::Stmt body = guarded(node.stage, children(node), loop.var);
    open_.pop_back();
    std::vector<ir::Stmt> first;
    for (const PrefetchRegion& region : loop.prefetches) first.push_back(emit_prefetch(region));
    first.push_back(body);
    body = ir::block(std::move(first));
    for (auto let = loop.lets.rbegin(); let != loop.lets.rend(); ++let)
      body = ir::let_stmt(let->symbol, let->value, body);
    ir::LoopInfo info{.var = loop.var, .binding = loop.binding, .axis = loop.axis};
    info.func = tree_.func(node.stage.func).name;
    info.origin = loop.origin;
    info.partition = loop.partition;
    info.partition_origin = loop.partition_origin;
    return ir::for_loop(std::move(info), loop.min, loop.extent, body);
  }

  /// The lines of cache that hold the box: along dimension 0 where its stride is 1 one element of each.
  ir::Stmt emit_prefetch(const PrefetchRegion& region) {
    if (region.of->kind == ir::CalleeKind::Input)
      return emit_prefetch(region, tree_.inputs[region.of->index], true);
    std::vector<ir::Stmt> components;
    for (const ir::BufferPtr& b : buffers_of(FuncId{region.of->index}))
      components.push_back(emit_prefetch(region, b, false));
    return ir::block(std::move(components));
  }

  ir::Stmt emit_prefetch(const PrefetchRegion& region, const ir::BufferPtr& b, bool input) {
    std::vector<Expr> first;
    std::vector<std::pair<Expr, Expr>> counts_and_steps;
    for (std::size_t d = 0; d < region.box.size(); ++d) {
      const ir::Interval& i = region.box[d];
      const Expr line = ir::index(ir::is_one(b->strides[d]) ? kLineBytes / b->type.bytes() : 1);
      first.push_back(i.min);
      counts_and_steps.emplace_back(simple((i.max - i.min + line - ir::index(1)) / line + ir::index(1)),
                                    simple(line * b->strides[d]));
    }
    return ir::prefetch(b, input ? strided_index(b, first, {}) : prefetched_index(region, b, first),
                        counts_and_steps);
  }

  // In a ring the box starts at its slot; what wraps around is in the caches already.
  Expr prefetched_index(const PrefetchRegion& region, const ir::BufferPtr& b,
                        const std::vector<Expr>& first) {
    auto it = tree_.storage.find(FuncId{region.of->index});
    return strided_index(b, first,
                         it == tree_.storage.end() ? std::vector<std::int64_t>{} : it->second.folds);
  }

  /// Inside out, a guard goes around the body of the first loop whose variable it tests; without a variable
  /// around the definition itself.
  ir::Stmt guarded(StageRef stage, ir::Stmt body, const ir::SymbolPtr& var) {
    const std::vector<Guard>& guards = tree_.stages.at(stage).guards;
    for (std::size_t i = guards.size(); i-- > 0;) {
      const bool here = var ? ir::uses(guards[i].condition, var) : !tests_a_loop(guards[i].condition);
      if (here && placed_.insert({stage, i}).second) body = conditional(guards[i], body);
    }
    return body;
  }

  bool tests_a_loop(const Expr& condition) const {
    return std::any_of(open_.begin(), open_.end(),
                       [&](LoopId id) { return ir::uses(condition, tree_.loop(id).var); });
  }

  // The text marks a guard whose vector form is a branch with a scalar rest instead of masks.
  ir::Stmt conditional(const Guard& g, ir::Stmt body) {
    ir::Stmt s = ir::if_then(g.condition, std::move(body));
    return g.tail == Tail::Guard ? ir::make_stmt(s->kind, s->exprs, s->stmts, std::string("guard")) : s;
  }

  // ---- Bodies

  ir::Stmt emit_body(StageRef ref) {
    const lang::StageDef& def = tree_.def(ref);
    const StageInfo& info = tree_.stages.at(ref);
    ir::Substitution map;
    for (std::size_t i = 0; i < info.dims.size(); ++i)
      if (info.coordinates[i].defined()) map.emplace_back(info.dims[i], info.coordinates[i]);
    auto place_in = [&](const Expr& e) { return with_loads(ir::substitute(e, map), ref); };

    std::vector<Expr> coordinates;
    for (const Expr& e : def.lhs) coordinates.push_back(simple(place_in(e)));
    const std::vector<ir::BufferPtr>& buffers = buffers_of(ref.func);
    std::vector<Expr> indices;
    for (const ir::BufferPtr& buffer : buffers)
      indices.push_back(flat_index(ref.func, buffer, coordinates, ref));
    ir::Stmt s = nullptr;
    if (!tree_.is_copy(ref)) {
      checks_.clear();
      std::vector<Expr> values;
      for (const Expr& value : def.values()) values.push_back(simple(place_in(value)));
      checks_.push_back(store_all(buffers, values, indices));
      s = ir::block(checks_);
    }
    if (def.predicate.defined()) s = ir::if_then(simple(place_in(def.predicate)), s);
    if (is_final(ref))
      for (std::size_t c = 0; c < buffers.size(); ++c)
        s = ir::block({s, copy_out(ref, static_cast<int>(c), buffers[c], indices[c], coordinates)});
    return one_thread(ref, buffers.front(), guarded(ref, s, nullptr));
  }

  /// Every component gets its value as computed from what was there before. A component that keeps its value
  /// is not stored; values that read what an earlier store overwrites are named before it.
  ir::Stmt store_all(const std::vector<ir::BufferPtr>& buffers, const std::vector<Expr>& values,
                     const std::vector<Expr>& indices) {
    std::vector<ir::Stmt> stores;
    std::vector<std::pair<ir::SymbolPtr, Expr>> named;
    std::vector<ir::BufferPtr> written;
    for (std::size_t c = 0; c < buffers.size(); ++c) {
      const bool kept = buffers.size() > 1 && ir::is(values[c], ir::Op::Load) &&
                        ir::buffer_of(values[c]) == buffers[c] && ir::equal(values[c]->args[0], indices[c]);
      if (kept) continue;
      Expr value = values[c];
      if (reads_any(value, written)) {
        named.emplace_back(ir::make_symbol(ir::SymbolKind::Let, buffers[c]->name + ".next", value.type()),
                           value);
        value = ir::make_var(named.back().first);
      }
      stores.push_back(ir::store(buffers[c], value, {indices[c]}));
      written.push_back(buffers[c]);
    }
    ir::Stmt s = stores.size() == 1 ? stores.front() : ir::block(std::move(stores));
    for (auto let = named.rbegin(); let != named.rend(); ++let) s = ir::let_stmt(let->first, let->second, s);
    return s;
  }

  static bool reads_any(const Expr& e, const std::vector<ir::BufferPtr>& buffers) {
    return ir::any_of(e, [&](const Expr& n) {
      return ir::is(n, ir::Op::Load) &&
             std::find(buffers.begin(), buffers.end(), ir::buffer_of(n)) != buffers.end();
    });
  }

  /// Whether what the stage writes are the values that are stored for the caller.
  bool is_final(StageRef ref) const {
    return tree_.stored_of.count(ref.func) &&
           ref.stage + 1 == static_cast<int>(tree_.func(ref.func).stages.size());
  }

  /// A component just stored, to the caller's buffer if it lies in that one's box.
  ir::Stmt copy_out(StageRef ref, int component, const ir::BufferPtr& from, const Expr& index,
                    const std::vector<Expr>& coordinates) {
    const ir::BufferPtr& to = tree_.stored_of.at(ref.func)[component];
    Expr inside = ir::make_one(Bool());
    for (std::size_t d = 0; d < coordinates.size(); ++d)
      inside = inside && coordinates[d] >= to->mins[d] && coordinates[d] < to->mins[d] + to->extents[d];
    const Expr value = ir::make(ir::Op::Load, from->type, {index}, from);
    return one_thread(
        ref, to, ir::if_then(simple(inside), ir::store(to, value, {strided_index(to, coordinates, {})})));
  }

  /// Memory of the block is written by one thread along each axis that the nest does not bind.
  ir::Stmt one_thread(StageRef ref, const ir::BufferPtr& buffer, ir::Stmt s) {
    if (!gpu_ || buffer->space == ir::MemorySpace::Register || buffer->space == ir::MemorySpace::Local)
      return s;
    for (int axis = 0; axis < 3; ++axis) {
      if (kernel_->threads[axis] == 1 || thread_loop(axis)) continue;
      ir::LoopInfo info{.var = ir::make_symbol(ir::SymbolKind::Loop, fmt::format("first.{}", "xyz"[axis])),
                        .binding = ir::Binding::GpuThread,
                        .axis = axis,
                        .func = tree_.func(ref.func).name,
                        .origin = "one thread for the block"};
      s = ir::for_loop(std::move(info), ir::index(0), ir::index(1), s);
    }
    return s;
  }

  const LoopInfo* thread_loop(int axis) const {
    for (LoopId id : open_) {
      const LoopInfo& loop = tree_.loop(id);
      if (loop.binding == ir::Binding::GpuThread && loop.axis == axis) return &loop;
    }
    return nullptr;
  }

  // ---- Accesses

  Expr simple(const Expr& e) { return algebra_.simplify(e); }

  Expr with_loads(const Expr& e, StageRef reader) {
    return ir::rewrite(e, [&](const Expr& n) -> Expr {
      if (ir::is(n, ir::Op::Likely)) return n->args[0];  // partitioning finds the steady part by itself
      if (ir::is(n, ir::Op::PromiseClamped)) return n->args[0];
      if (ir::is(n, ir::Op::Require)) return with_check(n, reader);
      if (!ir::is(n, ir::Op::Call)) return n;
      const ir::Callee& callee = *ir::callee_of(n);
      if (callee.kind == ir::CalleeKind::Input) {
        const ir::BufferPtr& b = tree_.inputs[callee.index];
        return ir::make(ir::Op::Load, b->type, {strided_index(b, n->args, {})}, b);
      }
      const FuncId func{callee.index};
      const ir::BufferPtr& b = buffers_of(func)[callee.component];
      return ir::make(ir::Op::Load, b->type, {flat_index(func, b, n->args, reader)}, b);
    });
  }

  /// The value; the check stands before the statement at hand.
  Expr with_check(const Expr& e, StageRef reader) {
    const std::string& text = *ir::text_of(e);
    if (gpu_) {
      throw Error({.kind = ErrorKind::Target,
                   .message = fmt::format("{}: kernels of a GPU cannot check what is required", text),
                   .func = tree_.func(reader.func).name,
                   .value = ir::to_string(e->args[0]),
                   .legal = "a host target, or the algorithm without require"});
    }
    const Expr condition = simple(e->args[0]);
    for (const ir::Stmt& known : checks_)
      if (ir::equal(known->exprs[0], condition) && known->text() == text) return e->args[1];
    if (!ir::is_one(condition)) checks_.push_back(ir::check(condition, text));
    return e->args[1];
  }

  const std::vector<ir::BufferPtr>& buffers_of(FuncId func) const {
    auto output = tree_.output_of.find(func);
    return output != tree_.output_of.end() ? output->second : tree_.storage.at(func).buffers;
  }

  Expr flat_index(FuncId func, const ir::BufferPtr& b, const std::vector<Expr>& coordinates, StageRef user) {
    auto it = tree_.storage.find(func);
    if (it == tree_.storage.end()) return strided_index(b, coordinates, {});
    const Storage& storage = it->second;
    // Where one coordinate is stored it is the box's first, however it is computed.
    std::vector<Expr> stored = coordinates;
    for (std::size_t d = 0; d < stored.size(); ++d)
      if (storage.shape[d] == 1) stored[d] = storage.box[d].min;
    return storage.layout ? register_index(func, storage, stored, user)
                          : strided_index(b, stored, storage.folds);
  }

  Expr strided_index(const ir::BufferPtr& b, const std::vector<Expr>& coordinates,
                     const std::vector<std::int64_t>& folds) {
    Expr total = ir::index(0);
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      Expr c = cast(Int(64), coordinates[d]);
      const bool ring = d < folds.size() && folds[d] != 0;
      total = total + (ring ? c % ir::index(folds[d]) : c - b->mins[d]) * b->strides[d];
    }
    return simple(total);
  }

  /// The slot of an element in its holder's registers; refused if the holder is not the thread that runs
  /// this.
  Expr register_index(FuncId func, const Storage& storage, const std::vector<Expr>& coordinates,
                      StageRef user) {
    std::vector<Expr> local;
    for (std::size_t d = 0; d < coordinates.size(); ++d)
      local.push_back(simple(coordinates[d] - storage.box[d].min));
    for (int axis = 0; axis < 3; ++axis) {
      const auto layout_axis = static_cast<layout::Axis>(axis);
      if (!storage.layout->uses(layout_axis)) continue;
      const Expr holder = storage.layout->position(layout_axis, local, tree_.facts);
      const LoopInfo* loop = thread_loop(axis);
      const Expr own = loop ? ir::make_var(loop->var) - loop->min : Expr();
      if (!own.defined() || !ir::prove_equal(holder, own, tree_.facts))
        refuse_cross(func, user, axis, holder);
    }
    return storage.layout->position(layout::Axis::Register, local, tree_.facts);
  }

  [[noreturn]] void refuse_cross(FuncId func, StageRef user, int axis, const Expr& holder) {
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format(
                     "'{}' is held in registers of thread.{} = {}, but another thread uses it here",
                     tree_.func(func).name, "xyz"[axis], ir::to_string(holder)),
                 .func = tree_.func(func).name,
                 .stage = lang::stage_name(tree_.func(user.func), user.stage),
                 .directive = tree_.scheduled.of(func).memory_origin,
                 .value = "Register",
                 .legal = "store_in(Shared), or split and bind the loops of both stages alike"});
  }

  const LoopTree& tree_;
  ir::Algebra algebra_;
  bool gpu_;
  std::vector<ir::Stmt> checks_;  ///< of the definition at hand
  const KernelInfo* kernel_ = nullptr;
  std::vector<LoopId> open_;
  std::set<std::pair<StageRef, std::size_t>> placed_;  // guards, by stage and position
};

}  // namespace

std::vector<Unit> emit(const LoopTree& tree) { return Emitter(tree).run(); }

}  // namespace calotype::lower
