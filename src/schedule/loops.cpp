// Edits of a stage's loops that several directives share.
#include "schedule/loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "schedule/order.h"

namespace calotype::schedule {

namespace {

std::size_t place_of(const std::vector<LoopId>& loops, LoopId loop) {
  return std::find(loops.begin(), loops.end(), loop) - loops.begin();
}

void require_new(const Application& a, const std::string& name) {
  for (LoopId id : a.state.funcs[a.func.value].stages[a.stage].ever)
    if (a.state.loop(id).name == name)
      a.refuse(fmt::format("{} has or had a loop '{}' already", a.state.stage_name(a.func, a.stage), name),
               name, "a name that no loop of the stage has had");
}

void consume(Application& a, LoopId loop, const std::string& by) {
  a.state.out.loops[loop.value].replaced_by = fmt::format("{} ({})", by, a.origin());
}

void note_origin(const Application& a, Loop& l) {
  l.origin = l.origin.empty() || l.origin == a.origin() ? a.origin() : l.origin + ", " + a.origin();
}

void require_serial(const Application& a, LoopId loop) {
  const Loop& l = a.state.loop(loop);
  if (l.binding != ir::Binding::Serial)
    a.refuse(fmt::format("the loop '{}' is bound already, by {}", l.name, l.origin), l.name,
             "loops that are still serial");
}

/// Where a part of a coordinate ends another part follows, so that there is nothing past the end.
void require_coordinate(const Application& a, LoopId old, std::int64_t factor, const std::string& tail) {
  const std::vector<LoopId>& dims = a.state.loops_of(a.func, a.stage).dims;
  if (std::find(dims.begin(), dims.end(), old) != dims.end()) return;
  const auto extent = constant_extent(a.state, a.func, a.stage, old);
  if (extent && *extent % factor == 0) return;
  a.refuse(fmt::format("{} runs past the end of '{}', which is a part of a coordinate, into the next part",
                       tail, a.state.loop(old).name),
           tail,
           extent ? fmt::format("a factor that divides {}; guard, predicate", *extent)
                  : "guard, predicate; or a split of the coordinate itself");
}

void require_tail(const Application& a, LoopId old, std::int64_t factor, Tail tail) {
  const bool reduction = a.state.loop(old).reduction;
  if (tail == Tail::ShiftInwards && (reduction || a.stage > 0))
    a.refuse(fmt::format("shift_inwards computes points twice, which a{} may not",
                         reduction ? " reduction" : "n update"),
             "shift_inwards", "guard, predicate");
  const bool rounds = tail == Tail::RoundUp;
  if (!rounds && tail != Tail::PredicateLoads && tail != Tail::PredicateStores) return;
  const std::string& text = text_of(tail);
  if (reduction)
    a.refuse(fmt::format("{} runs past the end, which a reduction may not", text), text, "guard, predicate");
  if (tail != Tail::PredicateStores && a.state.out.graph.is_output(a.func))
    a.refuse(fmt::format("{} writes past the end, which an output may not", text), text,
             "guard, predicate, shift_inwards, predicate_stores");
  if (tail != Tail::PredicateLoads && a.state.funcs[a.func.value].copies_input)
    a.refuse(fmt::format("{} reads past the end of the input that is copied", text), text,
             "guard, predicate, shift_inwards, predicate_loads");
  if (!rounds) require_coordinate(a, old, factor, text);
}

}  // namespace

SplitLoops split_loop(Application& a, LoopId old, const std::string& outer, const std::string& inner,
                      std::int64_t factor, Tail tail) {
  require_new(a, outer);
  require_new(a, inner);
  require_serial(a, old);
  require_tail(a, old, factor, tail);
  const bool reduction = a.state.loop(old).reduction;
  SplitLoops made;
  made.outer = a.state.add_loop(a.func, a.stage,
                                {.name = outer, .reduction = reduction, .origin = a.origin()}, a.index);
  made.inner = a.state.add_loop(a.func, a.stage,
                                {.name = inner, .reduction = reduction, .origin = a.origin()}, a.index);
  StageSchedule& s = a.loops();
  s.transforms.push_back({.kind = Transform::Kind::Split,
                          .old = old,
                          .outer = made.outer,
                          .inner = made.inner,
                          .factor = factor,
                          .tail = tail,
                          .origin = a.origin()});
  const std::size_t at = place_of(s.loops, old);
  s.loops[at] = made.inner;
  s.loops.insert(s.loops.begin() + at + 1, made.outer);
  consume(a, old, outer + ", " + inner);
  return made;
}

LoopId fuse_loops(Application& a, LoopId inner, LoopId outer, const std::string& name) {
  require_new(a, name);
  require_serial(a, inner);
  require_serial(a, outer);
  const bool reduction = a.state.loop(inner).reduction;
  if (reduction != a.state.loop(outer).reduction)
    a.refuse("a reduction loop cannot be fused with a pure one", a.state.loop(reduction ? inner : outer).name,
             "two pure loops, or two reduction loops");
  // First bring the outer one right outside the inner one; that is where a change of order is refused.
  std::vector<LoopId> order = a.loops().loops;
  order.erase(order.begin() + place_of(order, outer));
  order.insert(order.begin() + place_of(order, inner) + 1, outer);
  reorder_loops(a, order);
  const LoopId fused = a.state.add_loop(
      a.func, a.stage, {.name = name, .reduction = reduction, .origin = a.origin()}, a.index);
  StageSchedule& s = a.loops();
  s.transforms.push_back(
      {.kind = Transform::Kind::Fuse, .outer = outer, .inner = inner, .fused = fused, .origin = a.origin()});
  const std::size_t at = place_of(s.loops, inner);
  s.loops[at] = fused;
  s.loops.erase(s.loops.begin() + at + 1);
  consume(a, inner, name);
  consume(a, outer, name);
  return fused;
}

void rename_loop(Application& a, LoopId loop, const std::string& name) {
  require_new(a, name);
  const std::string old = a.state.loop(loop).name;
  // What is left of the old name says where the loop is.
  const LoopId gone = a.state.add_loop(a.func, a.stage, {.name = old}, a.index);
  consume(a, gone, name);
  Loop& l = a.state.out.loops[loop.value];
  l.name = name;
  note_origin(a, l);
}

void reorder_loops(Application& a, const std::vector<LoopId>& order) {
  const OrderChange change = compare_order(a.state, a.func, a.stage, a.loops().loops, order);
  if (!change.refusal.empty()) a.refuse(change.refusal, change.value, change.legal);
  for (LoopId loop : change.reassociated) note_reassociation(a.state, a.func, a.stage, loop);
  a.loops().loops = order;
}

void bind_loop(Application& a, LoopId loop, ir::Binding binding, int axis) {
  require_serial(a, loop);
  Loop& l = a.state.out.loops[loop.value];
  l.binding = binding;
  l.axis = axis;
  note_origin(a, l);
  a.state.loop_directives[loop.value] = a.index;
}

std::vector<int> roots(const State& state, FuncId func, int stage, LoopId loop) {
  return roots(state.loops_of(func, stage), loop);
}

std::vector<int> roots(const StageSchedule& s, LoopId loop) {
  std::vector<LoopId> open = {loop};
  for (auto t = s.transforms.rbegin(); t != s.transforms.rend(); ++t) {
    const bool split = t->kind == Transform::Kind::Split;
    std::vector<LoopId> next;
    for (LoopId id : open) {
      if (split && (id == t->outer || id == t->inner)) {
        next.push_back(t->old);
      } else if (!split && id == t->fused) {
        next.push_back(t->inner);
        next.push_back(t->outer);
      } else {
        next.push_back(id);
      }
    }
    open = std::move(next);
  }
  std::vector<int> dims;
  for (std::size_t d = 0; d < s.dims.size(); d++)
    if (s.dims[d].valid() && std::find(open.begin(), open.end(), s.dims[d]) != open.end())
      dims.push_back(static_cast<int>(d));
  return dims;
}

namespace {

/// The coordinates of a dimension at which `stage` reads the Func, where they are those of a reduction
/// dimension of constant extent or a constant.
std::optional<std::pair<std::int64_t, std::int64_t>> constant_range(const Expr& at,
                                                                    const lang::StageDef& stage) {
  if (const auto point = ir::as_int(at)) return std::pair{*point, *point};
  for (const lang::ReductionDim& r : stage.reduction) {
    if (!ir::is(at, ir::Op::Variable) || ir::symbol_of(at) != r.symbol) continue;
    const auto min = ir::as_int(r.min), extent = ir::as_int(r.extent);
    if (min && extent && *extent > 0) return std::pair{*min, *min + *extent - 1};
  }
  return std::nullopt;
}

/// Whether the updates of a Func write and read it along a dimension only where they stand.
bool updates_stay(const lang::FuncDef& f, int dim) {
  const Expr own = ir::make_var(f.args[dim]);
  return std::all_of(f.stages.begin(), f.stages.end(), [&](const lang::StageDef& stage) {
    return ir::equal(stage.lhs[dim], own) && !ir::any_of(stage.value, [&](const Expr& e) {
             return f.is_read(e) && !ir::equal(e->args[dim], own);
           });
  });
}

/// How much of a dimension other Funcs read, where that is a constant: as of the partial results that rfactor
/// makes, which are read over a loop that split made. A Func that is not computed in a loop of another one
/// has that extent.
std::optional<std::int64_t> extent_read(const Scheduled& s, FuncId func, int dim) {
  const lang::FuncDef& f = s.graph.func(func);
  const FuncSchedule& own = s.of(func);
  const auto aligned = [&](const BoundAlignment& b) { return b.dim == dim; };
  if (own.compute.kind == Place::Kind::At || s.graph.is_output(func) || !updates_stay(f, dim) ||
      std::any_of(own.alignments.begin(), own.alignments.end(), aligned))
    return std::nullopt;
  std::int64_t low = INT64_MAX, high = INT64_MIN;
  bool constant = true;
  const auto look = [&](const Expr& e, const lang::StageDef& reader) {
    if (!e.defined()) return;
    ir::visit(e, [&](const Expr& read) {
      if (!f.is_read(read)) return;
      const auto range = constant_range(read->args[dim], reader);
      constant &= range.has_value();
      if (!range) return;
      low = std::min(low, range->first);
      high = std::max(high, range->second);
    });
  };
  for (const lang::FuncDef& reader : s.graph.funcs) {
    if (reader.id == func) continue;
    for (const lang::StageDef& stage : reader.stages) {
      look(stage.value, stage);
      look(stage.predicate, stage);
      for (const Expr& e : stage.lhs) look(e, stage);
    }
  }
  return constant && low <= high ? std::optional(high - low + 1) : std::nullopt;
}

std::optional<std::int64_t> definition_extent(const Scheduled& s, FuncId func, int stage, int dim) {
  const lang::FuncDef& f = s.graph.func(func);
  if (dim >= f.rank()) return ir::as_int(f.stages[stage].reduction[dim - f.rank()].extent);
  for (const BoundPromise& b : s.of(func).bounds)
    if (b.dim == dim) return b.extent;
  for (const lang::OutputDef& o : s.graph.outputs)
    if (o.func == func && o.sized) return ir::as_int(o.extents[dim]);
  return extent_read(s, func, dim);
}

}  // namespace

void check_tails(State& state) {
  for (const lang::FuncDef& f : state.out.graph.funcs)
    for (int s = 0; s < static_cast<int>(f.stages.size()); s++)
      for (const Transform& t : state.loops_of(f.id, s).transforms) {
        if (t.kind != Transform::Kind::Split) continue;
        if (t.tail != Tail::PredicateLoads && t.tail != Tail::PredicateStores) continue;
        const Loop& inner = state.loop(t.inner);
        if (inner.replaced_by.empty()) continue;
        state.refuse(
            f.id, s, state.loop_directives[t.inner.value],
            fmt::format("{} is for the innermost split, but the loop '{}' was cut up once more, into {}",
                        text_of(t.tail), inner.name, inner.replaced_by),
            text_of(t.tail), "guard, predicate; or a single split by the inner factor");
      }
}

std::optional<std::int64_t> constant_extent(const Scheduled& scheduled, FuncId func, int stage, LoopId loop) {
  const StageSchedule& s = scheduled.of(func).stages[stage];
  for (std::size_t d = 0; d < s.dims.size(); d++)
    if (s.dims[d] == loop) return definition_extent(scheduled, func, stage, static_cast<int>(d));
  for (const Transform& t : s.transforms) {
    if (t.kind == Transform::Kind::Split && loop == t.inner) return t.factor;
    if (t.kind == Transform::Kind::Split && loop == t.outer) {
      const auto old = constant_extent(scheduled, func, stage, t.old);
      return old ? std::optional((*old + t.factor - 1) / t.factor) : std::nullopt;
    }
    if (t.kind == Transform::Kind::Fuse && loop == t.fused) {
      const auto inner = constant_extent(scheduled, func, stage, t.inner);
      const auto outer = constant_extent(scheduled, func, stage, t.outer);
      return inner && outer ? std::optional(*inner * *outer) : std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> constant_extent(const State& state, FuncId func, int stage, LoopId loop) {
  return constant_extent(state.out, func, stage, loop);
}

void require_constant_extent(const Application& a, const std::string& loop, std::int64_t most) {
  for (LoopId id : a.state.loops_of(a.func, a.stage).loops) {
    if (a.state.loop(id).name != loop) continue;
    const auto extent = constant_extent(a.state, a.func, a.stage, id);
    const std::string legal = fmt::format(
        "{}({}, FACTOR), which splits the loop first; bound; at most {} iterations", a.spec.name, loop, most);
    // Inside a consumer's loop the region, and so the extent, is what that loop needs, and a size that is
    // assumed to be at most something bounds others: bounds inference decides.
    const std::vector<SizeAssumption>& assumed = a.state.out.assumptions;
    const bool bounded = std::any_of(assumed.begin(), assumed.end(),
                                     [](const SizeAssumption& s) { return s.range.high.has_value(); });
    if (!extent && (bounded || a.state.out.of(a.func).compute.kind == Place::Kind::At)) return;
    if (!extent) a.refuse(fmt::format("the extent of '{}' is not a constant", loop), loop, legal);
    if (*extent > most)
      a.refuse(fmt::format("'{}' has {} iterations, too many", loop, *extent), std::to_string(*extent),
               legal);
  }
}

void note_reassociation(State& state, FuncId func, int stage, LoopId loop) {
  const lang::FuncDef& f = state.def(func);
  if (!f.any_float()) return;
  std::vector<std::string>& listed = state.out.numerics.reassociates;
  for (int d : roots(state, func, stage, loop)) {
    if (d < f.rank()) continue;
    const std::string entry = f.name + "." + f.stages[stage].reduction[d - f.rank()].name;
    if (std::find(listed.begin(), listed.end(), entry) == listed.end()) listed.push_back(entry);
  }
}

}  // namespace calotype::schedule
