// The box of coordinates that each Func is needed on: from the outputs back to the producers.

#include "lang/evaluate_regions.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/errors.h"

namespace calotype::lang {

namespace {

/// More points than this are refused rather than attempted.
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;

std::string text(const std::vector<Range>& box) {
  std::vector<std::string> parts;
  const auto end = [](std::int64_t v) {
    return v >= kUnbounded ? "inf" : v <= -kUnbounded ? "-inf" : std::to_string(v);
  };
  for (const Range& r : box) parts.push_back(fmt::format("[{}, {}]", end(r.min), end(r.max)));
  return fmt::format("{}", fmt::join(parts, " x "));
}

/// What a condition that holds leaves of the range of a coordinate, where it compares the coordinate itself.
Range within(Range range, const Expr& coordinate, const Expr& condition, const Ranges& ranges,
             const Constants& constants) {
  if (!condition.defined()) return range;
  if (ir::is(condition, ir::Op::And))
    return within(within(range, coordinate, condition->args[0], ranges, constants), coordinate,
                  condition->args[1], ranges, constants);
  const bool less = ir::is(condition, ir::Op::Lt);
  if (!less && !ir::is(condition, ir::Op::Le)) return range;
  const Expr &low = condition->args[0], &high = condition->args[1];
  if (ir::equal(low, coordinate))
    range.max = std::min(range.max, range_of(high, ranges, constants).max - (less ? 1 : 0));
  if (ir::equal(high, coordinate))
    range.min = std::max(range.min, range_of(low, ranges, constants).min + (less ? 1 : 0));
  return range;
}

/// Calls `f` on every Call of the stage.
void for_each_call(const StageDef& stage, const std::function<void(const Expr&)>& f) {
  const auto visit = [&](const Expr& node) {
    if (ir::is(node, ir::Op::Call)) f(node);
  };
  ir::visit(stage.value, visit);
  for (const Expr& e : stage.lhs) ir::visit(e, visit);
  ir::visit(stage.predicate, visit);
}

bool reads_in(const Expr& e, const Expr& call) {
  return e.defined() && ir::any_of(e, [&](const Expr& node) { return ir::equal(node, call); });
}

bool is_func(const Expr& call) { return ir::callee_of(call)->kind == ir::CalleeKind::Func; }

Ranges symbol_ranges(const FuncDef& func, const StageDef& stage, const StageLoops& loops) {
  Ranges ranges;
  for (std::size_t d = 0; d < loops.pure.size(); ++d) {
    if (loops.is_pure[d]) ranges[func.args[d].get()] = loops.pure[d];
  }
  for (std::size_t d = 0; d < loops.reduction.size(); ++d)
    ranges[stage.reduction[d].symbol.get()] = loops.reduction[d];
  return ranges;
}

std::vector<Range> ranges_of(const std::vector<Expr>& exprs, const Ranges& ranges,
                             const Constants& constants) {
  std::vector<Range> result;
  for (const Expr& e : exprs) result.push_back(range_of(e, ranges, constants));
  return result;
}

/// Own reads of updates widen the Func's own box. A read of the very point that is written needs nothing:
/// what is written outside the box is not computed at all.
void include_own_reads(const FuncDef& func, const Constants& constants, Region& region) {
  const auto widen = [&] {
    const std::vector<Range> before = region.dims;
    for (std::size_t s = 1; s < func.stages.size(); ++s) {
      const StageDef& stage = func.stages[s];
      const StageLoops loops = stage_loops(func, static_cast<int>(s), region, constants);
      if (loops.empty()) continue;
      const Ranges ranges = symbol_ranges(func, stage, loops);
      for_each_call(stage, [&](const Expr& call) {
        if (!is_func(call) || ir::callee_of(call)->index != func.id.value || ir::equal(call->args, stage.lhs))
          return;
        region.include(ranges_of(call->args, ranges, constants));
      });
    }
    return region.dims != before;
  };
  // Each round can only pass an extent on from one dimension to another.
  const std::size_t most = 2 + func.stages.size() * func.args.size();
  for (std::size_t round = 0; widen(); ++round) {
    if (round < most) continue;
    refuse(fmt::format("the updates of '{}' read ever further parts of it", func.name), func.name,
           text(region.dims), "coordinates of own reads that are clamped to a fixed box");
  }
}

void check_size(const FuncDef& func, const Region& region, const FuncDef* consumer) {
  std::int64_t count = 1;
  for (const Range& r : region.dims) {
    const bool too_large = __builtin_mul_overflow(count, r.extent(), &count) || count > kMostElements;
    if (!too_large) continue;
    const std::string by = consumer != nullptr ? fmt::format(" by '{}'", consumer->name) : "";
    refuse(fmt::format("'{}' is needed{} on a box without usable bounds", func.name, by), func.name,
           text(region.dims), "coordinates with bounds, as clamp(i, 0, extent - 1)");
  }
}

}  // namespace

std::int64_t Region::elements() const {
  std::int64_t count = 1;
  for (const Range& r : dims) count *= r.extent();
  return count;
}

void Region::include(const std::vector<Range>& box) {
  if (std::any_of(box.begin(), box.end(), [](const Range& r) { return r.empty(); })) return;
  if (!needed) {
    needed = true;
    dims = box;
    return;
  }
  for (std::size_t d = 0; d < box.size(); ++d) {
    dims[d] = {std::min(dims[d].min, box[d].min), std::max(dims[d].max, box[d].max)};
  }
}

bool StageLoops::empty() const {
  for (std::size_t d = 0; d < pure.size(); ++d) {
    if (is_pure[d] && pure[d].empty()) return true;
  }
  return std::any_of(reduction.begin(), reduction.end(), [](const Range& r) { return r.empty(); });
}

StageLoops stage_loops(const FuncDef& func, int index, const Region& region, const Constants& constants) {
  const StageDef& stage = func.stages[index];
  StageLoops loops;
  for (std::size_t d = 0; d < func.args.size(); ++d) {
    const bool pure = ir::is(stage.lhs[d], ir::Op::Variable) && ir::symbol_of(stage.lhs[d]) == func.args[d];
    loops.is_pure.push_back(pure);
    loops.pure.push_back(pure ? region.dims[d] : Range{});
  }
  for (const ReductionDim& dim : stage.reduction) {
    const std::int64_t min = size_value(dim.min, constants);
    loops.reduction.push_back({min, min + size_value(dim.extent, constants) - 1});
  }
  return loops;
}

std::vector<Region> required_regions(const Graph& graph, const Constants& constants) {
  std::vector<Region> regions(graph.funcs.size());
  std::vector<const FuncDef*> consumers(graph.funcs.size(), nullptr);
  for (const OutputDef& output : graph.outputs) {
    std::vector<Range> box;
    for (const Expr& extent : output.extents) box.push_back({0, size_value(extent, constants) - 1});
    regions[output.func.value].include(box);
  }
  const std::vector<FuncId> order = producers_first(graph);
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const FuncDef& func = graph.func(*id);
    Region& region = regions[id->value];
    if (!region.needed) continue;
    include_own_reads(func, constants, region);
    check_size(func, region, consumers[id->value]);
    for (std::size_t s = 0; s < func.stages.size(); ++s) {
      const StageLoops loops = stage_loops(func, static_cast<int>(s), region, constants);
      if (loops.empty()) continue;
      const Ranges ranges = symbol_ranges(func, func.stages[s], loops);
      for_each_call(func.stages[s], [&](const Expr& call) {
        const int producer = ir::callee_of(call)->index;
        if (!is_func(call) || producer == func.id.value) return;
        std::vector<Range> box = ranges_of(call->args, ranges, constants);
        // What the condition itself and the coordinates read is read where it does not hold, too.
        const StageDef& stage = func.stages[s];
        const bool of_value = !reads_in(stage.predicate, call) &&
                              std::none_of(stage.lhs.begin(), stage.lhs.end(),
                                           [&](const Expr& e) { return reads_in(e, call); });
        if (of_value)
          for (std::size_t d = 0; d < box.size(); ++d)
            box[d] = within(box[d], call->args[d], stage.predicate, ranges, constants);
        regions[producer].include(box);
        consumers[producer] = &func;
      });
    }
  }
  return regions;
}

std::vector<Region> read_regions(const Graph& graph, const Constants& constants,
                                 const std::vector<Region>& regions) {
  std::vector<Region> inputs(graph.inputs.size());
  for (const FuncDef& func : graph.funcs) {
    const Region& region = regions[func.id.value];
    for (std::size_t s = 0; region.needed && s < func.stages.size(); ++s) {
      const StageLoops loops = stage_loops(func, static_cast<int>(s), region, constants);
      if (loops.empty()) continue;
      const Ranges ranges = symbol_ranges(func, func.stages[s], loops);
      for_each_call(func.stages[s], [&](const Expr& call) {
        if (!is_func(call))
          inputs[ir::callee_of(call)->index].include(ranges_of(call->args, ranges, constants));
      });
    }
  }
  return inputs;
}

}  // namespace calotype::lang
