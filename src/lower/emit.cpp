// Emission: statements from the loop tree.
//
// Requires: a complete tree (bounds, memory, sync). Leaves: one Unit on the host, one a root nest on a GPU;
// definitions with coordinates put in, storage accesses flat, guards as soon as their variables are known.
// Loops keep their binding; vector and unrolled loops are expanded by later passes. The last reader of the
// tree.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "calotype/error.h"
#include "lower/addresses.h"
#include "lower/atomic_updates.h"
#include "lower/call_function.h"
#include "lower/combine_threads.h"
#include "lower/converted_reads.h"
#include "lower/copied_loops.h"
#include "lower/domain_condition.h"
#include "lower/fetch_ahead.h"
#include "lower/first_thread.h"
#include "lower/iterations.h"
#include "lower/one_sided_masks.h"
#include "lower/partial_results.h"
#include "lower/passes.h"
#include "lower/run_roles.h"
#include "lower/store_values.h"
#include "lower/tensor_products.h"
#include "lower/trace_lines.h"

namespace calotype::lower {
namespace {

class Emitter {
 public:
  Emitter(const LoopTree& tree, bool profile)
      : tree_(tree),
        algebra_(tree.facts),
        addresses_(tree, algebra_),
        gpu_(tree.scheduled.target.is_gpu()),
        profile_(profile) {}

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
      kernel_ = &tree_.kernels.at(child.stage);
      production_ = &child == &node.children.front() ? &node : nullptr;
      ir::Stmt kernel = emit_node(child);
      if (production_) kernel = with_production({}, kernel);
      units.push_back({kernel_name(tree_, child.stage), child.stage, if_used(child.stage.func, kernel)});
    }
  }

  /// The body of a kernel's innermost block loop, or all of one that has none: the first block tells of the
  /// production at hand.
  ir::Stmt with_production(const std::vector<LoopId>& blocks, const ir::Stmt& body) {
    const Node& production = *std::exchange(production_, nullptr);
    Expr first = ir::make_one(Bool());
    for (LoopId id : blocks) first = first && ir::make_var(tree_.loop(id).var) == tree_.loop(id).min;
    const ir::Stmt lines = production_lines(tree_, production.func, first);
    return lines ? ir::block({first_thread(production.func, lines), body}) : body;
  }

  // ---- Nodes

  ir::Stmt children(const Node& node) {
    if (!node.children.empty() && node.children.front().kind == NodeKind::Role) return emit_roles(node);
    std::vector<ir::Stmt> stmts;
    for (const Node& child : node.children)
      stmts.push_back(node.kind == NodeKind::Produce && publishes(child) ? emit_published(child)
                                                                         : emit_node(child));
    return ir::block(std::move(stmts));
  }

  /// The loops of a definition once more, as the same loops with names of their own.
  ir::Stmt emit_published(const Node& nest) {
    const auto guards_before = placed_;
    std::erase_if(placed_, [&](const auto& guard) { return guard.first == nest.stage; });
    const ir::Stmt s = emit_node(nest);
    placed_ = guards_before;
    return fresh_copy(s);
  }

  ir::Stmt emit_publish(StageRef ref) {
    const std::vector<Expr> coordinates = target_coordinates(ref);
    const ir::Stmt all = publish_element(tree_, ref.func, coordinates, target_indices(ref, coordinates));
    const ir::Stmt s = for_needed(tree_, ref, all);  // what a mask leaves out was not stored
    return guarded(ref, one_thread(ref, tree_.storage.at(ref.func).published.front(), s), nullptr);
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
        return in_shared_loops(node, !in_bulk_ && begins_copy(node) ? emit_copy(node) : emit_loop(node));
      case NodeKind::Body:
        if (tree_.tensor_tiles.count(node.stage)) return multiply_tile(tree_, addresses_, node.stage, open_);
        async_ = node.instruction->engine != instr::Engine::Generic;
        return in_shared_loops(node, emit_body(node.stage));
      case NodeKind::Reduce:
        return emit_reduce(node);
      case NodeKind::Send:
        return combine_threads(node.stage).send();
      case NodeKind::Combine:
        return emit_combine(node.stage);
      case NodeKind::Publish:
        return emit_publish(node.stage);
      case NodeKind::Sync:
        return ir::synchronise(node.sync, node.slot, node.rank);
      case NodeKind::First:
      case NodeKind::Ahead:
      case NodeKind::Behind:
      case NodeKind::Last:
        return emit_iterations(node);
      case NodeKind::Role:
        return children(node);
    }
    return nullptr;
  }

  /// Guards stand there as they do in the iteration at hand.
  ir::Stmt emit_iterations(const Node& node) {
    const auto guards_before = placed_;
    const ir::Stmt s = in_other_iterations(tree_, node, [&](const Node& child) { return emit_node(child); });
    placed_ = guards_before;
    return s;
  }

  /// Roles run side by side: each has the guards of the loops around it.
  ir::Stmt emit_roles(const Node& node) {
    std::vector<ir::Stmt> parts;
    const auto guards_before = placed_;
    auto in_any = placed_;
    for (const Node& role : node.children) {
      placed_ = guards_before;
      parts.push_back(children(role));
      in_any.insert(placed_.begin(), placed_.end());
    }
    placed_ = std::move(in_any);
    return run_roles(tree_, node.children.front().stage, std::move(parts));
  }

  CombineThreads combine_threads(StageRef ref) { return {tree_, ref, *partial_results(ref), open_}; }

  /// The loops with partial results of threads, and what combines those. Threads that a guard keeps out of
  /// the loops have the identity.
  ir::Stmt emit_reduce(const Node& node) {
    const PartialResults& partial = *partial_results(node.stage);
    const CombineThreads combine = combine_threads(node.stage);
    std::vector<ir::Stmt> stmts;
    for (const Node& child : node.children) {
      stmts.push_back(emit_node(child));
      if (child.kind != NodeKind::Loop) continue;
      stmts.back() = partial.in_thread(guarded_by_rest(node.stage, stmts.back()));
      stmts.push_back(combine.shuffle());
    }
    return partial.allocated(combine.allocated(ir::block(std::move(stmts))));
  }

  ir::Stmt emit_combine(StageRef ref) {
    const ir::Stmt last = partial_results(ref)->of_results(
        [&](const std::vector<Expr>& values) { return finish(ref, values); });
    return tree_.reductions.at(ref).exchanges() ? ir::block({combine_threads(ref).receive(), last}) : last;
  }

  /// Guards that test loops around a reduction by threads stand around the loops with partial results alone.
  ir::Stmt guarded_by_rest(StageRef stage, ir::Stmt body) {
    const std::vector<Guard>& guards = tree_.stages.at(stage).guards;
    for (std::size_t i = guards.size(); i-- > 0;)
      if (!masks_one_side(guards[i]) && placed_.insert({stage, i}).second)
        body = conditional(guards[i], body);
    return body;
  }

  ir::Stmt emit_realize(const Node& node) {
    const Storage& storage = tree_.storage.at(node.func);
    ir::Stmt s = children(node);
    for (auto buffer = storage.buffers.rbegin(); buffer != storage.buffers.rend(); ++buffer)
      if ((*buffer)->space != ir::MemorySpace::Global) s = ir::allocate(*buffer, s);  // the plan's
    for (const ir::BufferPtr& buffer : storage.published) s = ir::allocate(buffer, s);
    for (auto let = storage.lets.rbegin(); let != storage.lets.rend(); ++let)
      s = ir::let_stmt(let->symbol, let->value, s);
    return s;
  }

  ir::Stmt emit_produce(const Node& node) {
    ir::Note note{.stage = {}, .origin = tree_.scheduled.of(node.func).compute_origin};
    for (FuncId func : sharing(tree_.scheduled, node.func))
      note.stage += (func == node.func ? "" : ", ") + tree_.func(func).name;
    note.text = fmt::format("produce {}{}{}", note.stage, note.origin.empty() ? "" : ": ", note.origin);
    ir::Stmt body = profile_ ? marked_stages(node) : children(node);
    if (const ir::Stmt lines = production_lines(tree_, node.func, ir::make_one(Bool())))
      body = ir::block({first_thread(node.func, lines), body});
    if (profile_)
      body = ir::metered({ir::Meter::Kind::Time, node.func.value, tree_.func(node.func).name}, body);
    return ir::note(std::move(note), if_used(node.func, body));
  }

  ir::Stmt marked_stages(const Node& produce) {
    std::vector<ir::Stmt> stmts;
    for (const Node& child : produce.children) {
      ir::Stmt s = emit_node(child);
      if (child.kind == NodeKind::Loop || child.kind == NodeKind::Body)
        s = ir::metered({ir::Meter::Kind::Stage, child.stage.stage,
                         lang::stage_name(tree_.func(child.stage.func), child.stage.stage)},
                        s);
      stmts.push_back(std::move(s));
    }
    return ir::block(std::move(stmts));
  }

  /// A production, where some calls have no use for it.
  ir::Stmt if_used(FuncId func, ir::Stmt production) {
    const auto when = tree_.used_when.find(func);
    return when == tree_.used_when.end() ? production : ir::if_then(when->second, std::move(production));
  }

  ir::Stmt emit_loop(const Node& node) {
    const LoopInfo& loop = tree_.loop(node.loop);
    open_.push_back(node.loop);
    ir::Stmt body = children(node);
    // The innermost block loop comes here first.
    if (production_ && loop.binding == ir::Binding::GpuBlock) body = with_production(open_blocks(), body);
    const bool around = tree_.reductions.count(node.stage) && !partial_results(node.stage)->has(node.loop);
    // Regions are named within guards, which say more of them, but where hints are given in front of those.
    const bool named_within = loop.prefetches.empty();
    if (named_within) body = with_names(loop, body);
    if (loop.sharers.empty() && !around && !tree_.shuffles(node.stage))
      body = guarded(node.stage, body, loop.var);
    open_.pop_back();
    body = fetch_ahead(tree_, addresses_, loop, body);
    if (!named_within) body = with_names(loop, body);
    ir::Stmt s = ir::for_loop(shown(tree_, node), loop.min, loop.extent, body);
    const PartialResults* partial = partial_results(node.stage);
    if (!partial || partial->around() != node.loop || tree_.reductions.count(node.stage)) return s;
    return partial->wrap(s, [&](const std::vector<Expr>& values) { return finish(node.stage, values); });
  }

  ir::Stmt emit_copy(const Node& node) {
    in_bulk_ = true;
    const ir::Stmt loops = emit_loop(node);
    in_bulk_ = false;
    const auto place = [&](const Expr& e) { return place_in(e, node.stage); };
    return copy_in_bulk(tree_, *kernel_, node.stage, loops, open_, place);
  }

  /// What a stage runs inside loops that it shares has the stage's guards around it and nothing else has.
  ir::Stmt in_shared_loops(const Node& node, ir::Stmt s) {
    const auto is_shared = [&](LoopId id) { return !tree_.loop(id).sharers.empty(); };
    if (node.kind == NodeKind::Loop && is_shared(node.loop)) return s;
    if (tree_.shuffles(node.stage)) return s;
    for (auto id = open_.rbegin(); id != open_.rend() && is_shared(*id); ++id)
      if (runs_in(node.stage, *id)) s = guarded(node.stage, s, tree_.loop(*id).var);
    return s;
  }

  bool runs_in(StageRef stage, LoopId id) const {
    const std::vector<LoopId>& own = tree_.schedule_of(stage).loops;
    return std::find(own.begin(), own.end(), id) != own.end();
  }

  /// Inside out, a guard goes around the body of the first of the stage's loops whose variable it tests;
  /// without a variable around the definition itself, also where it tests loops of a consumer alone.
  ir::Stmt guarded(StageRef stage, ir::Stmt body, const ir::SymbolPtr& var) {
    const std::vector<Guard>& guards = tree_.stages.at(stage).guards;
    for (std::size_t i = guards.size(); i-- > 0;) {
      if (masks_one_side(guards[i])) continue;
      const bool here = var                     ? ir::uses(guards[i].condition, var)
                        : tree_.shuffles(stage) ? true
                                                : !tests_a_loop(stage, guards[i].condition);
      if (here && placed_.insert({stage, i}).second) body = conditional(guards[i], body);
    }
    return body;
  }

  bool tests_a_loop(StageRef stage, const Expr& condition) const {
    return std::any_of(open_.begin(), open_.end(), [&](LoopId id) {
      const bool own = tree_.loop(id).owner == stage || runs_in(stage, id);
      return own && ir::uses(condition, tree_.loop(id).var);
    });
  }

  // The text marks a guard whose vector form is a branch with a scalar rest instead of masks.
  ir::Stmt conditional(const Guard& g, ir::Stmt body) {
    ir::Stmt s = ir::if_then(g.condition, std::move(body));
    return g.tail == Tail::Guard ? ir::make_stmt(s->kind, s->exprs, s->stmts, std::string("guard")) : s;
  }

  // ---- Bodies

  /// A condition, undefined if there is none, and before it what it checks and prints.
  struct Tested {
    Expr condition;
    std::vector<ir::Stmt> before;
    ir::Stmt around(ir::Stmt body) const {
      if (!condition.defined()) return body;
      std::vector<ir::Stmt> all = before;
      all.push_back(ir::if_then(condition, std::move(body)));
      return ir::block(std::move(all));
    }
  };
  Tested tested(const Expr& condition, StageRef ref) {
    if (!condition.defined()) return {};
    Expr placed = simple(place_in(condition, ref));
    std::vector<ir::Stmt> before = std::exchange(checks_, {});
    for (ir::Stmt& check : before) check = for_needed(tree_, ref, check);
    return {std::move(placed), std::move(before)};
  }

  ir::Stmt emit_body(StageRef ref) {
    const lang::StageDef& def = tree_.def(ref);
    if (def.function()) return emit_extern(ref);
    const PartialResults* partial = partial_results(ref);
    const std::vector<ir::BufferPtr>& buffers = buffers_of(ref.func);
    checks_.clear();
    converted_.reset();
    const DomainCondition condition = parts_of(def.predicate);
    const Tested plain = tested(condition.plain, ref), reading = tested(condition.reading, ref);
    const std::vector<Expr> coordinates = target_coordinates(ref);
    const std::vector<Expr> indices = target_indices(ref, coordinates);
    ir::Stmt s = nullptr;
    if (!tree_.is_copy(ref)) {
      const auto placed = [&](std::vector<Expr> values) {
        for (std::size_t c = 0; c < values.size(); ++c) {
          kept_ = is_kept(tree_, ref, c, values[c]);
          values[c] = simple(place_in(values[c], ref));
        }
        kept_ = false;
        return values;
      };
      const ir::Stmt stores =
          partial ? partial->accumulate(placed(partial->proof().terms))
          : async_
              ? ir::async_store(ir::store(buffers.front(), carried_ = placed(def.values())[0], {indices[0]}))
          : is_atomic(tree_, ref) && buffers.size() == 1
              ? update(ref, placed({def.reduce_term}), indices)
              : in_turn(ref, store_values(buffers, placed(def.values()), indices, moving_slots(tree_, ref)),
                        indices);
      for (ir::Stmt& check : checks_) check = for_needed(tree_, ref, check);
      checks_.push_back(partial ? stores
                                : with_masked_stores(tree_, ref,
                                                     moved_up(ref, with_store_lines(tree_, ref, buffers,
                                                                                    stores, coordinates))));
      s = ir::block(checks_);
    }
    s = plain.around(reading.around(s));
    if (!partial) s = one_thread(ref, buffers.front(), copied_out(ref, s, indices, coordinates));
    s = guarded(ref, s, nullptr);
    return converted_ ? converted_->around(s) : s;
  }

  /// Slots move before a new value is stored.
  ir::Stmt moved_up(StageRef ref, const ir::Stmt& stores) {
    const Storage* storage = moving_slots(tree_, ref);
    if (!storage) return stores;
    const FoldedScan& scan = *storage->scan;
    const auto dim = static_cast<std::size_t>(scan.dim);
    const Expr moved = ir::index(scan.step) * (place_in(tree_.def(ref).lhs[dim], ref) - scan.before);
    const Slots slots{storage->folds[dim], storage->buffers.front()->strides[dim],
                      ir::index(scan.given - 1) + moved};
    return ir::rewrite_exprs(with_slots_moved(stores, slots, tree_.facts), [&](const Expr& e) {
      return with_masked_loads(tree_, ref, buffers_of(ref.func), e);  // past the end there are none
    });
  }

  ir::Stmt emit_extern(StageRef ref) {
    return call_function(tree_, ref, [&](const ir::CalleePtr& of, const std::vector<Expr>& first) {
      if (of->kind == ir::CalleeKind::Input) {
        const ir::BufferPtr& b = tree_.inputs[static_cast<std::size_t>(of->index)];
        return Element{b, addresses_.strided(b, first, {})};
      }
      const FuncId func{of->index};
      const ir::BufferPtr& b = buffers_of(func)[static_cast<std::size_t>(of->component)];
      return Element{b, addresses_.of(func, b, first, ref, open_)};
    });
  }

  /// An expression of a definition, with its coordinates as values of the loops.
  Expr place_in(const Expr& e, StageRef ref) {
    const Expr value = expand_float8(with_loads(ir::substitute(e, tree_.coordinates_of(ref)), ref));
    return with_masked_loads(tree_, ref, buffers_of(ref.func), value);
  }

  std::vector<Expr> target_coordinates(StageRef ref) {
    std::vector<Expr> coordinates;
    for (const Expr& e : tree_.def(ref).lhs) coordinates.push_back(simple(place_in(e, ref)));
    return coordinates;
  }

  std::vector<Expr> target_indices(StageRef ref, const std::vector<Expr>& coordinates) {
    std::vector<Expr> indices;
    for (const ir::BufferPtr& buffer : buffers_of(ref.func))
      indices.push_back(addresses_.of(ref.func, buffer, coordinates, ref, open_));
    return indices;
  }

  /// What is printed before the statement at hand; another value of the same definition may print the same.
  void add_once(const ir::Stmt& line) {
    for (const ir::Stmt& known : checks_)
      if (known->kind == line->kind && known->text() == line->text() && ir::equal(known->exprs, line->exprs))
        return;
    if (!ir::is_zero(line->exprs[0])) checks_.push_back(line);
  }

  // ---- Updates by several lanes or threads

  /// The places combined with values, one a component.
  ir::Stmt update(StageRef ref, const std::vector<Expr>& values, const std::vector<Expr>& indices) {
    const std::vector<ir::BufferPtr>& buffers = buffers_of(ref.func);
    if (is_atomic(tree_, ref) && buffers.size() == 1) {
      if (gpu_) require_shared(tree_, ref, *buffers.front());
      return ir::atomic_store(buffers.front(), *tree_.def(ref).reduce_op, values.front(), indices);
    }
    std::vector<Expr> before;
    for (std::size_t c = 0; c < buffers.size(); ++c)
      before.push_back(ir::make(ir::Op::Load, buffers[c]->type, {indices[c]}, buffers[c]));
    const Expr after = partial_results(ref)->proof().combine(before, values);
    return in_turn(
        ref,
        store_values(buffers, ir::is(after, ir::Op::Tuple) ? after->args : std::vector<Expr>{after}, indices),
        indices);
  }

  /// Of several values, which no instruction updates together, threads take turns.
  ir::Stmt in_turn(StageRef ref, const ir::Stmt& stores, const std::vector<Expr>& indices) const {
    const ir::BufferPtr first = is_atomic(tree_, ref) ? first_stored(stores) : nullptr;
    return first ? ir::locked(first, indices.front(), stores) : stores;
  }

  const PartialResults* partial_results(StageRef ref) {
    const std::vector<LoopId>& loops = tree_.schedule_of(ref).loops;
    const bool any = std::any_of(loops.begin(), loops.end(), [&](LoopId id) {
      return tree_.scheduled.loop(id).sharing == schedule::Sharing::Partial;
    });
    return any ? &partial_.try_emplace(ref, tree_, ref).first->second : nullptr;
  }

  /// What follows the loops of partial results: the place is updated where it is one of the region's.
  ir::Stmt finish(StageRef ref, const std::vector<Expr>& values) {
    converted_.reset();
    const std::vector<Expr> coordinates = target_coordinates(ref);
    const std::vector<Expr> indices = target_indices(ref, coordinates);
    ir::Stmt s =
        with_store_lines(tree_, ref, buffers_of(ref.func), update(ref, values, indices), coordinates);
    s = copied_out(ref, s, indices, coordinates);
    // A condition of the domain may leave out every term of a place that lies outside what is stored.
    if (tree_.def(ref).predicate.defined())
      s = ir::if_then(simple(is_stored(tree_, ref.func, *buffers_of(ref.func).front(), coordinates)), s);
    s = one_thread(ref, buffers_of(ref.func).front(), s);
    for (const Guard& g : tree_.stages.at(ref).guards) {
      const std::vector<LoopId>& loops = tree_.schedule_of(ref).loops;
      const bool of_terms = std::any_of(loops.begin(), loops.end(), [&](LoopId id) {
        return partial_results(ref)->is_inside(id) && ir::uses(g.condition, tree_.loop(id).var);
      });
      if (!of_terms) s = conditional(g, s);
    }
    return s;
  }

  ir::Stmt copied_out(StageRef ref, ir::Stmt s, const std::vector<Expr>& indices,
                      const std::vector<Expr>& coordinates) {
    if (!is_final(tree_, ref)) return s;
    const std::vector<ir::BufferPtr>& buffers = buffers_of(ref.func);
    for (std::size_t c = 0; c < buffers.size(); ++c)
      s = ir::block({s, for_needed(tree_, ref,
                                   copy_out(ref, static_cast<int>(c), buffers[c], indices[c], coordinates))});
    return s;
  }

  /// A component just stored, to the caller's buffer if it lies in that one's box.
  ir::Stmt copy_out(StageRef ref, int component, const ir::BufferPtr& from, const Expr& index,
                    const std::vector<Expr>& coordinates) {
    const ir::BufferPtr& to = tree_.stored_of.at(ref.func)[component];
    const Expr value = async_ ? carried_ : ir::make(ir::Op::Load, from->type, {index}, from);
    return one_thread(ref, to,
                      ir::if_then(simple(is_inside(coordinates, box_of(*to))),
                                  ir::store(to, value, {addresses_.strided(to, coordinates, {})})));
  }

  /// Memory of the block is written by one thread along each axis that the nest does not bind.
  ir::Stmt one_thread(StageRef ref, const ir::BufferPtr& buffer, ir::Stmt s) {
    const bool own = buffer->space == ir::MemorySpace::Register || buffer->space == ir::MemorySpace::Local;
    if (own || in_bulk_) return s;
    return first_thread(ref.func, std::move(s), buffer->space != ir::MemorySpace::Shared);
  }

  /// On a GPU: by one thread along each axis that no loop around binds; of one block of a cluster.
  ir::Stmt first_thread(FuncId func, ir::Stmt s, bool of_cluster = true) {
    return gpu_ ? by_first_thread(tree_, *kernel_, func, open_, std::move(s), of_cluster) : s;
  }

  /// The block loops around.
  std::vector<LoopId> open_blocks() const {
    std::vector<LoopId> blocks;
    for (LoopId id : open_)
      if (tree_.loop(id).binding == ir::Binding::GpuBlock) blocks.push_back(id);
    return blocks;
  }

  // ---- Accesses

  Expr simple(const Expr& e) { return algebra_.simplify(e); }

  Expr with_loads(const Expr& e, StageRef reader) {
    return ir::rewrite(e, [&](const Expr& n) -> Expr {
      if (ir::is(n, ir::Op::Likely)) return n->args[0];  // partitioning finds the steady part by itself
      if (ir::is(n, ir::Op::PromiseClamped)) return n->args[0];
      if (ir::is(n, ir::Op::Require)) return with_check(n, reader);
      if (ir::is(n, ir::Op::Print)) return with_print(n);
      if (!ir::is(n, ir::Op::Call)) return n;
      const ir::Callee& callee = *ir::callee_of(n);
      const Expr value = load_of(n, callee, reader);
      if (const ir::Stmt line = load_line(tree_, n, value); line && !kept_) add_once(line);
      return value;
    });
  }

  Expr load_of(const Expr& call, const ir::Callee& callee, StageRef reader) {
    if (callee.kind == ir::CalleeKind::Input) {
      const ir::BufferPtr& b = tree_.inputs[callee.index];
      return loaded(call->type, b, addresses_.strided(b, call->args, {}));
    }
    const FuncId func{callee.index};
    if (tree_.conversion(reader, func)) {
      if (!converted_) converted_.emplace(tree_, *kernel_, reader, open_);
      return converted_->read(call);
    }
    const ir::BufferPtr& b = buffers_of(func)[callee.component];
    return loaded(call->type, b, addresses_.of(func, b, call->args, reader, open_));
  }

  /// The value; the check stands before the statement at hand.
  Expr with_check(const Expr& e, StageRef reader) {
    const std::string& text = *ir::text_of(e);
    if (gpu_) refuse_requirement(tree_, reader, e);
    const Expr condition = simple(e->args[0]);
    for (const ir::Stmt& known : checks_)
      if (known->kind == ir::StmtKind::Check && ir::equal(known->exprs[0], condition) &&
          known->text() == text)
        return e->args[1];
    if (!ir::is_one(condition)) checks_.push_back(ir::check(condition, text));
    return e->args[1];
  }

  /// The value; the line is printed before the statement at hand.
  Expr with_print(const Expr& e) {
    const Expr condition = simple(expand_float8(e->args[1]));
    std::vector<Expr> values;
    for (std::size_t i = 2; i < e->args.size(); ++i) values.push_back(simple(expand_float8(e->args[i])));
    add_once(ir::print_line(condition, *ir::text_of(e), std::move(values)));
    return e->args[0];
  }

  const std::vector<ir::BufferPtr>& buffers_of(FuncId func) const {
    auto output = tree_.output_of.find(func);
    return output != tree_.output_of.end() ? output->second : tree_.storage.at(func).buffers;
  }

  const LoopTree& tree_;
  ir::Algebra algebra_;
  Addresses addresses_;
  bool gpu_, profile_;
  std::vector<ir::Stmt> checks_;             ///< of the definition at hand, and what it prints
  bool kept_ = false;                        ///< the value at hand stays as it is
  bool async_ = false;                       ///< the body at hand starts copies
  bool in_bulk_ = false;                     ///< and is part of a row or box, whose loops say by whom
  Expr carried_;                             ///< what it copies, for the caller too, who cannot wait for it
  std::optional<ConvertedReads> converted_;  ///< of the definition at hand, once it has some
  const KernelInfo* kernel_ = nullptr;
  const Node* production_ = nullptr;  ///< that the kernel at hand begins, and nothing tells of yet
  std::vector<LoopId> open_;
  std::set<std::pair<StageRef, std::size_t>> placed_;  // guards, by stage and position
  std::map<StageRef, PartialResults> partial_;
};

}  // namespace

std::vector<Unit> emit(const LoopTree& tree, bool profile) { return Emitter(tree, profile).run(); }

}  // namespace calotype::lower
