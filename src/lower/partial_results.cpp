// Partial results of lanes: a vector kept in registers while the loops run over which the place updated
// stays, then combined pair by pair, neighbours first, so that a lane's place in the order is kept.
#include "lower/partial_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "lower/passes.h"
#include "lower/store_values.h"

namespace calotype::lower {

namespace {

std::int64_t lanes_of(const LoopTree& tree, LoopId id, StageRef stage) {
  const LoopInfo& loop = tree.loop(id);
  const std::optional<std::int64_t> most = ir::constant_upper_bound(loop.extent, tree.facts);
  if (most && *most <= schedule::kMostLanes) return std::max<std::int64_t>(*most, 1);
  throw Error(
      {.kind = ErrorKind::Schedule,
       .message = fmt::format("loop '{}' cannot have a partial result for each iteration: its extent {}",
                              loop.name, most ? fmt::format("is {}", *most) : "has no constant bound"),
       .func = tree.func(stage.func).name,
       .stage = lang::stage_name(tree.func(stage.func), stage.stage),
       .directive = loop.origin,
       .value = ir::to_string(loop.extent),
       .legal = "at most 256: vectorize by a factor, or split first"});
}

}  // namespace

PartialResults::PartialResults(const LoopTree& tree, StageRef stage)
    : tree_(tree),
      stage_(stage),
      proof_(schedule::prove_associative(tree.func(stage.func), tree.def(stage))),
      nest_(schedule::lane_nest(tree.scheduled, stage.func, stage.stage, !proof_.commutative)) {
  const lang::FuncDef& func = tree.func(stage.func);
  for (LoopId id : nest_.vectors) {
    axes_.push_back({id, lanes_of(tree, id, stage), elements_, nest_.is_lane(id)});
    elements_ *= axes_.back().lanes;
    if (!axes_.back().reduced) results_ *= axes_.back().lanes;
  }
  if (elements_ > schedule::kMostLanes)
    throw Error({.kind = ErrorKind::Schedule,
                 .message = fmt::format("{} partial results at once", elements_),
                 .func = func.name,
                 .stage = lang::stage_name(func, stage.stage),
                 .directive = tree.loop(nest_.lanes.back()).origin,
                 .value = std::to_string(elements_),
                 .legal = fmt::format("at most {}", schedule::kMostLanes)});
  const auto make = [&](int c, const char* suffix, std::int64_t elements) {
    const std::string name = func.name + (func.is_tuple() ? fmt::format(".{}", c) : "") + suffix;
    return ir::make_buffer({.name = name,
                            .type = func.types[c],
                            .space = ir::MemorySpace::Register,
                            .mins = {ir::index(0)},
                            .extents = {ir::index(elements)},
                            .strides = {ir::index(1)},
                            .partial = true});
  };
  for (int c = 0; c < func.components(); ++c) {
    if (nest_.by_threads()) own_.push_back(make(c, ".own", results_));
    const bool same = nest_.by_threads() && elements_ == results_;
    buffers_.push_back(same ? own_.back() : make(c, ".lanes", elements_));
  }
}

bool PartialResults::has(LoopId loop) const {
  return std::find(nest_.loops.begin(), nest_.loops.end(), loop) != nest_.loops.end();
}

bool PartialResults::is_inside(LoopId loop) const { return tree_.loop(loop).reduction && has(loop); }

std::vector<Expr> PartialResults::load(const std::vector<ir::BufferPtr>& from, const Expr& position) {
  std::vector<Expr> values;
  for (const ir::BufferPtr& b : from) values.push_back(ir::make(ir::Op::Load, b->type, {position}, b));
  return values;
}

ir::Stmt PartialResults::store(const std::vector<Expr>& values, const Expr& position) const {
  return store_values(buffers_, values, std::vector<Expr>(values.size(), position));
}

static std::vector<Expr> components(const Expr& e) {
  return ir::is(e, ir::Op::Tuple) ? e->args : std::vector<Expr>{e};
}

ir::Stmt PartialResults::accumulate(const std::vector<Expr>& terms) const {
  Expr position = ir::index(0);
  for (const Axis& a : axes_) {
    const LoopInfo& loop = tree_.loop(a.loop);
    position = position + (ir::make_var(loop.var) - loop.min) * ir::index(a.stride);
  }
  position = ir::simplify(position, tree_.facts);
  return store(components(proof_.combine(load(position), terms)), position);
}

std::vector<std::pair<PartialResults::Axis, ir::SymbolPtr>> PartialResults::with_variables(
    const std::vector<Axis>& axes) const {
  std::vector<std::pair<Axis, ir::SymbolPtr>> result;
  for (const Axis& a : axes)
    result.emplace_back(a, ir::make_symbol(ir::SymbolKind::Loop, tree_.loop(a.loop).name));
  return result;
}

Expr PartialResults::position_of(const std::vector<std::pair<Axis, ir::SymbolPtr>>& axes) {
  Expr position = ir::index(0);
  for (const auto& [axis, variable] : axes)
    position = position + ir::make_var(variable) * ir::index(axis.stride);
  return position;
}

ir::Stmt PartialResults::vector_loops(const std::vector<std::pair<Axis, ir::SymbolPtr>>& axes,
                                      ir::Stmt body) const {
  for (const auto& [axis, variable] : axes) {
    ir::LoopInfo info{.var = variable, .binding = ir::Binding::Vector};
    info.func = tree_.func(stage_.func).name;
    info.origin = tree_.loop(axis.loop).origin;
    body = ir::for_loop(std::move(info), ir::index(0), ir::index(axis.lanes), body);
  }
  return body;
}

ir::Stmt PartialResults::start() const {
  const auto all = with_variables({{nest_.around, elements_, 1, true}});
  return vector_loops(all, store(proof_.identity, ir::make_var(all.front().second)));
}

/// Results 2i and 2i + 1 along the axis become result i. Every lane reads before one is written.
ir::Stmt PartialResults::combine_pairs(const Axis& axis, std::int64_t pairs,
                                       const std::vector<Axis>& others) const {
  const auto outer = with_variables(others);
  const auto inner = with_variables({{axis.loop, pairs, axis.stride, true}});
  const Expr pair = ir::make_var(inner.front().second), rest = position_of(outer);
  const auto at = [&](const Expr& along) {
    return ir::simplify(rest + along * ir::index(axis.stride), tree_.facts);
  };
  const Expr combined =
      proof_.combine(load(at(pair * ir::index(2))), load(at(pair * ir::index(2) + ir::index(1))));
  return vector_loops(outer, vector_loops(inner, store(components(combined), at(pair))));
}

ir::Stmt PartialResults::move_last(const Axis& axis, std::int64_t from, std::int64_t to,
                                   const std::vector<Axis>& others) const {
  const auto outer = with_variables(others);
  const Expr rest = position_of(outer);
  const auto at = [&](std::int64_t along) {
    return ir::simplify(rest + ir::index(along * axis.stride), tree_.facts);
  };
  return vector_loops(outer, store(load(at(from)), at(to)));
}

ir::Stmt PartialResults::combine(const Axis& axis, const std::vector<Axis>& others) const {
  std::vector<ir::Stmt> steps;
  for (std::int64_t left = axis.lanes; left > 1; left = left / 2 + left % 2) {
    steps.push_back(combine_pairs(axis, left / 2, others));
    if (left % 2 == 1 && left > 2) steps.push_back(move_last(axis, left - 1, left / 2, others));
  }
  return ir::block(std::move(steps));
}

ir::Stmt PartialResults::wrap(ir::Stmt loop,
                              const std::function<ir::Stmt(const std::vector<Expr>&)>& finish) const {
  std::vector<ir::Stmt> stmts{start(), std::move(loop)};
  std::vector<Axis> left = axes_;
  for (const Axis& axis : axes_) {
    if (!axis.reduced) continue;
    std::erase_if(left, [&](const Axis& a) { return a.loop == axis.loop; });
    stmts.push_back(combine(axis, left));
  }
  stmts.push_back(finish_each(buffers_, left, finish));
  return allocated(ir::block(std::move(stmts)));
}

/// In vector loops over the axes, by which the results stand in the buffers.
ir::Stmt PartialResults::finish_each(const std::vector<ir::BufferPtr>& from, const std::vector<Axis>& results,
                                     const std::function<ir::Stmt(const std::vector<Expr>&)>& finish) const {
  Expr position = ir::index(0);
  for (const Axis& a : results) {
    const LoopInfo& own = tree_.loop(a.loop);
    position = position + (ir::make_var(own.var) - own.min) * ir::index(a.stride);
  }
  ir::Stmt last = finish(load(from, ir::simplify(position, tree_.facts)));
  for (const Axis& a : results) {
    const LoopInfo& own = tree_.loop(a.loop);
    ir::LoopInfo info{.var = own.var, .binding = ir::Binding::Vector};
    info.func = tree_.func(stage_.func).name;
    info.origin = own.origin;
    last = ir::for_loop(std::move(info), own.min, own.extent, last);
  }
  return fresh_copy(last);
}

/// The axes that are not reduced over, as a thread's own results lie.
std::vector<PartialResults::Axis> PartialResults::result_axes() const {
  std::vector<Axis> results;
  std::int64_t stride = 1;
  for (const Axis& a : axes_) {
    if (a.reduced) continue;
    results.push_back({a.loop, a.lanes, stride, false});
    stride *= a.lanes;
  }
  return results;
}

ir::Stmt PartialResults::of_results(const std::function<ir::Stmt(const std::vector<Expr>&)>& finish) const {
  return finish_each(own_, result_axes(), finish);
}

ir::Stmt PartialResults::allocated(ir::Stmt s) const {
  for (const ir::BufferPtr& b : nest_.by_threads() ? own_ : buffers_) s = ir::allocate(b, s);
  return s;
}

/// One result of one component is made of the lanes in one expression, neighbours first; several are made
/// pair by pair, as elsewhere.
ir::Stmt PartialResults::in_thread(ir::Stmt loop) const {
  std::vector<ir::Stmt> stmts{start(), std::move(loop)};
  if (elements_ == results_) return ir::block(std::move(stmts));
  if (buffers_.size() == 1 && results_ == 1) {
    std::vector<std::vector<Expr>> parts;
    for (std::int64_t i = 0; i < elements_; ++i) parts.push_back(load(ir::index(i)));
    for (; parts.size() > 1; parts = half_of(std::move(parts))) {
    }
    stmts.push_back(store_values(own_, parts.front(), {ir::index(0)}));
  } else {
    std::vector<Axis> left = axes_;
    for (const Axis& axis : axes_) {
      if (!axis.reduced) continue;
      std::erase_if(left, [&](const Axis& a) { return a.loop == axis.loop; });
      stmts.push_back(combine(axis, left));
    }
    stmts.push_back(collect(left));
  }
  ir::Stmt s = ir::block(std::move(stmts));
  for (const ir::BufferPtr& b : buffers_) s = ir::allocate(b, s);
  return s;
}

/// What is left among the lanes, as the thread's own results.
ir::Stmt PartialResults::collect(const std::vector<Axis>& results) const {
  const auto lanes = with_variables(results);
  Expr own = ir::index(0);
  const std::vector<Axis> places = result_axes();
  for (std::size_t i = 0; i < lanes.size(); ++i)
    own = own + ir::make_var(lanes[i].second) * ir::index(places[i].stride);
  const Expr from = ir::simplify(position_of(lanes), tree_.facts);
  return vector_loops(
      lanes, store_values(own_, load(from), std::vector<Expr>(own_.size(), ir::simplify(own, tree_.facts))));
}

/// Each two neighbours combined; an odd last one waits.
std::vector<std::vector<Expr>> PartialResults::half_of(std::vector<std::vector<Expr>> parts) const {
  std::vector<std::vector<Expr>> next;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2)
    next.push_back(components(proof_.combine(parts[i], parts[i + 1])));
  if (parts.size() % 2 == 1) next.push_back(std::move(parts.back()));
  return next;
}

}  // namespace calotype::lower
