// What is assumed of named sizes.
#include "schedule/sizes.h"

#include <algorithm>

#include "ir/simplify.h"

namespace calotype::schedule {

namespace {

/// All that is assumed of the size so far, with the new range.
SizeRange joined(const Scheduled& s, const SizeRange& range) {
  SizeRange all = range;
  for (const SizeAssumption& other : s.assumptions)
    if (other.range.size == range.size) all = intersect(all, other.range);
  return all;
}

/// The size becomes a constant everywhere; the arguments' extents that named it are kept for the check.
void substitute(Scheduled& s, const ir::SymbolPtr& size, std::int64_t value) {
  const ir::Substitution constant = {{size, ir::index(value)}};
  const auto change = [&](Expr& e) {
    if (e.defined()) e = ir::substitute(e, constant);
  };
  const auto change_extent = [&](Expr& e, bool output, std::size_t argument, std::size_t dim) {
    if (!ir::uses(e, size)) return;
    const AssumedExtent kept{output, static_cast<int>(argument), static_cast<int>(dim), e};
    const auto same = [&](const AssumedExtent& k) {
      return k.output == output && k.argument == kept.argument && k.dim == kept.dim;
    };
    // An earlier assumption may have kept it with all of its sizes.
    if (std::none_of(s.assumed_extents.begin(), s.assumed_extents.end(), same))
      s.assumed_extents.push_back(kept);
    e = ir::simplify(ir::substitute(e, constant));
  };
  lang::Graph& graph = s.graph;
  for (std::size_t i = 0; i < graph.inputs.size(); i++)
    for (std::size_t d = 0; d < graph.inputs[i].extents.size(); d++)
      change_extent(graph.inputs[i].extents[d], false, i, d);
  for (std::size_t i = 0; i < graph.outputs.size(); i++)
    for (std::size_t d = 0; d < graph.outputs[i].extents.size(); d++)
      change_extent(graph.outputs[i].extents[d], true, i, d);
  for (lang::FuncDef& f : graph.funcs)
    for (lang::StageDef& stage : f.stages) {
      for (Expr& e : stage.lhs) change(e);
      change(stage.value);
      change(stage.predicate);
      change(stage.reduce_term);
      for (lang::ReductionDim& r : stage.reduction) {
        r.min = ir::simplify(ir::substitute(r.min, constant));
        r.extent = ir::simplify(ir::substitute(r.extent, constant));
      }
    }
}

}  // namespace

bool assume_size(Scheduled& scheduled, const ir::SymbolPtr& size, const SizeRange& range,
                 const std::string& origin, std::int64_t least) {
  const SizeRange all = joined(scheduled, range);
  if (intersect(all, {.size = range.size, .low = least}).count() == 0) return false;
  const bool known = joined(scheduled, {.size = range.size}).exact().has_value();
  scheduled.assumptions.push_back({size, range, origin});
  if (const auto value = all.exact(); value && !known) substitute(scheduled, size, *value);
  return true;
}

}  // namespace calotype::schedule
