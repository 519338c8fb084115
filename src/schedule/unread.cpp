// Funcs that nothing reads: from the outputs back, along what definitions read.
#include "schedule/unread.h"

namespace calotype::schedule {

std::vector<bool> leave_out_unread(Scheduled& scheduled) {
  std::vector<bool> read(scheduled.graph.funcs.size());
  for (const lang::OutputDef& o : scheduled.graph.outputs) read[o.func.value] = true;
  for (auto id = scheduled.order.rbegin(); id != scheduled.order.rend(); ++id) {
    FuncSchedule& f = scheduled.funcs[id->value];
    if (read[id->value]) {
      for (const lang::StageDef& s : scheduled.graph.func(*id).stages)
        for (const ir::CalleePtr& c : lang::callees(s))
          if (c->kind == ir::CalleeKind::Func) read[c->index] = true;
    } else if (f.compute.kind != Place::Kind::Inline) {
      f.compute = f.store = f.hoist = Place{};
      f.compute_origin = "nothing reads it";
    }
  }
  return read;
}

}  // namespace calotype::schedule
