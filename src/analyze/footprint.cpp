// What stages read and write, from intervals of their coordinates.
#include "analyze/footprint.h"

#include <algorithm>
#include <set>

namespace calotype::analyze {

Source source_of(const Expr& call) {
  const ir::Callee& callee = *ir::callee_of(call);
  return {callee.kind, callee.index};
}

Footprint::Footprint(const Graph& graph, const Constants& constants)
    : graph_(graph), constants_(constants), regions_(lang::required_regions(graph, constants)) {}

std::int64_t Footprint::element_bytes(Source source) const {
  if (source.kind == ir::CalleeKind::Input) return graph_.inputs[source.index].type.bytes();
  std::int64_t bytes = 0;
  for (const Type& type : graph_.funcs[source.index].types) bytes += type.bytes();
  return bytes;
}

std::int64_t Footprint::bytes(FuncId id) const {
  return regions_[id.value].elements() * element_bytes({ir::CalleeKind::Func, id.value});
}

lang::Ranges Footprint::loops(FuncId id, int index) const {
  const lang::FuncDef& func = graph_.func(id);
  const lang::StageDef& stage = func.stages[index];
  const lang::StageLoops loops = lang::stage_loops(func, index, regions_[id.value], constants_);
  lang::Ranges ranges;
  for (std::size_t d = 0; d < loops.pure.size(); ++d)
    if (loops.is_pure[d]) ranges[func.args[d].get()] = loops.pure[d];
  for (std::size_t d = 0; d < loops.reduction.size(); ++d)
    ranges[stage.reduction[d].symbol.get()] = loops.reduction[d];
  return ranges;
}

std::int64_t Footprint::points(const Expr& e, const lang::Ranges& loops) const {
  std::int64_t count = 1;
  for (const ir::SymbolPtr& symbol : ir::free_symbols(e))
    if (const auto at = loops.find(symbol.get()); at != loops.end()) count *= at->second.extent();
  return count;
}

std::int64_t Footprint::points(FuncId id, int stage) const {
  std::int64_t count = 1;
  for (const auto& [symbol, range] : loops(id, stage)) count *= range.extent();
  return count;
}

std::vector<lang::Range> Footprint::whole(Source source) const {
  if (source.kind == ir::CalleeKind::Func) return regions_[source.index].dims;
  std::vector<lang::Range> dims;
  for (const Expr& extent : graph_.inputs[source.index].extents)
    dims.push_back({0, lang::size_value(extent, constants_) - 1});
  return dims;
}

void Footprint::add_read(const Expr& call, const lang::Ranges& loops, Boxes& boxes) const {
  if (std::any_of(loops.begin(), loops.end(), [](const auto& loop) { return loop.second.empty(); })) return;
  const Source source = source_of(call);
  std::vector<lang::Range> box = whole(source);
  for (std::size_t d = 0; d < box.size(); ++d) {
    const lang::Range read = lang::range_of(call->args[d], loops, constants_);
    box[d] = {std::max(box[d].min, read.min), std::min(box[d].max, read.max)};
  }
  boxes[source].include(box);
}

std::int64_t Footprint::bytes(const Boxes& boxes) const {
  std::int64_t sum = 0;
  for (const auto& [source, region] : boxes)
    if (region.needed) sum += region.elements() * element_bytes(source);
  return sum;
}

std::int64_t Footprint::elements(const Boxes& boxes) const {
  std::int64_t sum = 0;
  for (const auto& [source, region] : boxes)
    if (region.needed) sum += region.elements();
  return sum;
}

std::int64_t arithmetic(const Expr& e, const std::function<bool(const Expr&)>& stop) {
  std::int64_t count = 0;
  std::set<const ir::ExprNode*> seen;
  const std::function<void(const Expr&)> visit = [&](const Expr& node) {
    if (!node.defined() || (stop && stop(node)) || ir::is(node, ir::Op::Call)) return;
    if (!seen.insert(node.node().get()).second) return;
    switch (ir::info(node->op).group) {
      case ir::OpGroup::arith:
      case ir::OpGroup::compare:
      case ir::OpGroup::logic:
      case ir::OpGroup::bits:
      case ir::OpGroup::math:
        count += ir::is(node, ir::Op::Fma) ? 2 : 1;
        break;
      case ir::OpGroup::misc:
        count += ir::is(node, ir::Op::Select);
        break;
      default:
        break;
    }
    for (const Expr& arg : node->args) visit(arg);
  };
  visit(e);
  return count;
}

}  // namespace calotype::analyze
