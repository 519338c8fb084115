// Funcs that nothing reads any more: a value that became a part of its readers may need less than its
// definition names, as a Func of one value leaves its coordinates behind.
//
// Requires: inlined definitions, and copies of what is stored. Leaves: only Funcs that an output needs; the
// others count as inlined. Stands before placement, which gives each Func that is left its loops.

#include "lower/passes.h"

namespace calotype::lower {

void drop_unread(Scheduled& scheduled) {
  std::vector<bool> read(scheduled.graph.funcs.size());
  for (const lang::OutputDef& output : scheduled.graph.outputs) read[output.func.value] = true;
  for (auto id = scheduled.order.rbegin(); id != scheduled.order.rend(); ++id) {
    schedule::Place& place = scheduled.funcs[id->value].compute;
    if (place.kind == schedule::Place::Kind::Inline) continue;
    if (!read[id->value]) {
      place.kind = schedule::Place::Kind::Inline;
      continue;
    }
    for (const lang::StageDef& stage : scheduled.graph.func(*id).stages)
      for (const ir::CalleePtr& callee : lang::callees(stage))
        if (callee->kind == ir::CalleeKind::Func) read[callee->index] = true;
  }
}

}  // namespace calotype::lower
