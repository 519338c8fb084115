// Recognising scans.
#include "schedule/scan.h"

#include <algorithm>

#include "ir/simplify.h"

namespace calotype::schedule {

namespace {

/// The coordinate that the update moves; the others are the Func's own Vars.
std::optional<int> moving_dim(const lang::FuncDef& func, const lang::StageDef& def) {
  std::optional<int> dim;
  for (int d = 0; d < func.rank(); ++d) {
    if (ir::is(def.lhs[d], ir::Op::Variable) && ir::symbol_of(def.lhs[d]) == func.args[d]) continue;
    if (dim) return std::nullopt;
    dim = d;
  }
  return dim;
}

/// Plus or minus the reduction's coordinate, and sizes.
std::optional<int> step_of(const lang::FuncDef& func, const Expr& coordinate, const ir::SymbolPtr& r) {
  const std::optional<ir::LinearIn> line = ir::linear_in(ir::simplify(coordinate), r);
  if (!line || (line->coefficient != 1 && line->coefficient != -1)) return std::nullopt;
  if (ir::any_of(line->rest, [](const Expr& e) { return ir::is(e, ir::Op::Call); })) return std::nullopt;
  for (const ir::SymbolPtr& arg : func.args)
    if (ir::uses(line->rest, arg)) return std::nullopt;
  return static_cast<int>(line->coefficient);
}

}  // namespace

std::optional<Scan> scan_form(const lang::FuncDef& func) {
  if (func.is_extern() || func.stages.size() != 2) return std::nullopt;
  const lang::StageDef& def = func.stages[1];
  if (def.reduction.size() != 1 || def.predicate.defined()) return std::nullopt;
  const std::optional<int> dim = moving_dim(func, def);
  if (!dim) return std::nullopt;
  const std::optional<int> step = step_of(func, def.lhs[*dim], def.reduction[0].symbol);
  if (!step) return std::nullopt;
  Scan scan{.dim = *dim, .step = *step};
  bool earlier = true;
  ir::visit(def.value, [&](const Expr& e) {
    if (!ir::is(e, ir::Op::Call) || !func.is_read(e)) return;
    for (int d = 0; d < func.rank(); ++d)
      if (d != *dim) earlier &= ir::equal(e->args[d], def.lhs[d]);
    const std::optional<std::int64_t> back = ir::as_int(ir::simplify(def.lhs[*dim] - e->args[*dim]));
    if (!back || *back * *step < 1)
      earlier = false;
    else
      scan.reach = std::max(scan.reach, *back * *step);
  });
  return earlier && scan.reach > 0 ? std::optional(scan) : std::nullopt;
}

std::optional<Scan> folded_scan(const Scheduled& scheduled, FuncId id) {
  const lang::FuncDef& func = scheduled.graph.func(id);
  const FuncSchedule& sched = scheduled.of(id);
  if (scheduled.graph.is_output(id) || scheduled.graph.is_boxed(id)) return std::nullopt;
  const std::optional<Scan> scan = scan_form(func);
  if (!scan) return std::nullopt;
  if (StorageSchedule::find(sched.storage.folds, scan->dim)) return scan;
  const bool here = sched.store.kind == sched.compute.kind && sched.store.loop == sched.compute.loop &&
                    sched.hoist.kind == sched.store.kind && sched.hoist.loop == sched.store.loop;
  const bool own =
      sched.memory == Memory::Register || sched.memory == Memory::Local || sched.memory == Memory::Stack;
  const bool sized = StorageSchedule::find(sched.storage.extents, scan->dim) != nullptr;
  return here && own && !sized ? scan : std::nullopt;
}

}  // namespace calotype::schedule
