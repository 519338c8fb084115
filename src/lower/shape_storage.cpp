// What directives ask of regions and of the extents of memory: alignment, allocation further out, constant
// extents.
//
// Requires: the region of a Func that is needed, or the box of what it stores and the rings in it. Leaves:
// the region aligned; Storage::shape, Storage::hoisted and the copies that take turns. Called by bounds
// inference for each Func, since an aligned region is what its producers have to cover.

#include <fmt/format.h>

#include "lower/passes.h"

namespace calotype::lower {
namespace {

using ir::Interval;
using schedule::Place;

/// Extents that are only known to be smaller than something beyond this have their bound from the range of a
/// type: memory is then what a call needs, not that.
constexpr std::int64_t kLargestConstant = 1 << 20;

bool same_site(const Place& a, const Place& b) {
  return a.kind == b.kind && (a.kind != Place::Kind::At || a.loop == b.loop);
}

Expr extent_of(const LoopTree& tree, const Interval& i) {
  return ir::simplify(i.max - i.min + ir::index(1), tree.facts);
}

Interval aligned(const LoopTree& tree, const Interval& i, const schedule::BoundAlignment& a) {
  const Expr m = ir::index(a.modulus), one = ir::index(1);
  if (!a.remainder) return {i.min, ir::simplify(i.min + (i.max - i.min + m) / m * m - one, tree.facts)};
  const Expr r = ir::index(*a.remainder);
  return {ir::simplify((i.min - r) / m * m + r, tree.facts),
          ir::simplify((i.max - r) / m * m + r + m - one, tree.facts)};
}

/// The largest that an extent at `store` is, as seen from outside the loops between it and `hoist`.
Expr largest_outside(LoopTree& tree, Expr extent, const Place& store, const Place& hoist) {
  for (LoopId id : site_loops(tree, store)) {
    if (hoist.kind == Place::Kind::At && id == hoist.loop) break;
    const LoopInfo& loop = tree.loop(id);
    for (auto let = loop.lets.rbegin(); let != loop.lets.rend(); ++let)
      extent = ir::substitute(extent, {{let->symbol, let->value}});
    ir::Scope scope = ir::make_scope();
    scope[loop.var] = {loop.min, ir::simplify(loop.min + loop.extent - ir::index(1), tree.facts)};
    extent = ir::bounds_of(extent, scope, tree.facts).max;
    if (!extent.defined()) break;
  }
  return extent;
}

void hoist(LoopTree& tree, FuncId id, Storage& storage) {
  const schedule::FuncSchedule& sched = tree.scheduled.of(id);
  if (same_site(sched.store, sched.hoist)) return;
  for (std::size_t d = 0; d < storage.box.size(); ++d) {
    const Expr extent = extent_of(tree, storage.box[d]);
    storage.hoisted.push_back(largest_outside(tree, extent, sched.store, sched.hoist));
    if (storage.hoisted.back().defined() || storage.shape[d] >= 0 || storage.folds[d] != 0) continue;
    throw Error(
        {.kind = ErrorKind::Schedule,
         .message = fmt::format("the extent of '{}' in '{}' has no bound where its memory is hoisted to",
                                tree.func(id).name, tree.func(id).args[d]->name),
         .func = tree.func(id).name,
         .directive = sched.hoist_origin,
         .value = ir::to_string(extent),
         .legal = "bound_storage along it, or a loop further in"});
  }
}

/// The copies take turns by the number of the iteration of the loops between.
void take_turns(LoopTree& tree, FuncId id, Storage& storage) {
  const schedule::FuncSchedule& sched = tree.scheduled.of(id);
  if (sched.storage.copies == 1) return;
  Expr turn = ir::index(0), inner = ir::index(1);
  for (LoopId loop_id : site_loops(tree, sched.store)) {
    if (sched.hoist.kind == Place::Kind::At && loop_id == sched.hoist.loop) break;
    const LoopInfo& loop = tree.loop(loop_id);
    turn = turn + (ir::make_var(loop.var) - loop.min) * inner;
    inner = inner * loop.extent;
  }
  storage.copies = sched.storage.copies;
  storage.copy = ir::simplify(turn % ir::index(storage.copies), tree.facts);
}

void bound_storage(LoopTree& tree, FuncId id, const schedule::DimNumber& bound, Storage& storage) {
  const std::string& name = tree.func(id).name;
  const std::string& dim = tree.func(id).args[bound.dim]->name;
  const auto refuse = [&](std::string message, std::string legal) {
    throw Error({.kind = ErrorKind::Schedule,
                 .message = std::move(message),
                 .func = name,
                 .directive = bound.origin,
                 .value = std::to_string(bound.value),
                 .legal = std::move(legal)});
  };
  if (const std::int64_t ring = storage.folds[bound.dim]; ring != 0) {
    if (ring > bound.value)
      refuse(fmt::format("'{}' is kept in a ring of {} along '{}'", name, ring, dim),
             fmt::format("at least {}, or fold_storage", ring));
    return;
  }
  const Expr extent = extent_of(tree, storage.box[bound.dim]);
  const Expr fits = ir::simplify(extent <= ir::index(bound.value), tree.facts);
  if (!ir::prove(fits, tree.facts) && (ir::is_zero(fits) || depends_on_loops(tree, fits)))
    refuse(fmt::format("the memory of '{}' along '{}' is not proved to fit: it needs {}", name, dim,
                       ir::to_string(extent)),
           "an extent that holds what is needed, or storage at another loop");
  require(tree,
          {fits,
           fmt::format("the schedule's {} does not hold what is needed, an extent of {{}}", bound.origin),
           name,
           {extent},
           "sizes for which it does, or a larger bound"});
  storage.shape[bound.dim] = bound.value;
}

}  // namespace

void align_region(LoopTree& tree, FuncId id, Box& box) {
  for (const schedule::BoundAlignment& a : tree.scheduled.of(id).alignments)
    if (box[a.dim].bounded()) box[a.dim] = aligned(tree, box[a.dim], a);
}

void check_aligned(const LoopTree& tree, FuncId id, const Box& box) {
  const auto multiple = [&](const Expr& e, std::int64_t of) {
    return ir::known_multiple(ir::simplify(e, tree.facts), tree.facts) % of == 0;
  };
  for (const schedule::BoundAlignment& a : tree.scheduled.of(id).alignments) {
    const Interval& i = box[a.dim];
    const bool starts = !a.remainder || multiple(i.min - ir::index(*a.remainder), a.modulus);
    if (starts && multiple(extent_of(tree, i), a.modulus)) continue;
    throw Error(
        {.kind = ErrorKind::Schedule,
         .message = fmt::format("'{}' is an output, of which the caller chooses the region: {} to {} in '{}'",
                                tree.func(id).name, ir::to_string(i.min), ir::to_string(i.max),
                                tree.func(id).args[a.dim]->name),
         .func = tree.func(id).name,
         .directive = a.origin,
         .value = std::to_string(a.modulus),
         .legal = "bound, which promises a region of that kind; or align a Func that it reads"});
  }
}

void shape_storage(LoopTree& tree, FuncId id, Storage& storage) {
  for (const Interval& i : storage.box) {
    const std::int64_t most = ir::constant_upper_bound(extent_of(tree, i), tree.facts).value_or(-1);
    storage.shape.push_back(most <= kLargestConstant ? most : -1);
  }
  for (const schedule::DimNumber& bound : tree.scheduled.of(id).storage.extents)
    bound_storage(tree, id, bound, storage);
  hoist(tree, id, storage);
  take_turns(tree, id, storage);
}

}  // namespace calotype::lower
