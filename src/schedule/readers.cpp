// Who reads whom.
#include "schedule/readers.h"

#include <algorithm>
#include <set>

namespace calotype::schedule {

namespace {

bool reach_from(const Readers& readers, FuncId func, FuncId consumer, std::set<FuncId>& seen) {
  if (!seen.insert(func).second) return false;
  return std::any_of(readers.of(func).begin(), readers.of(func).end(), [&](const StageId& r) {
    return r.func == consumer || reach_from(readers, r.func, consumer, seen);
  });
}

}  // namespace

Readers::Readers(const lang::Graph& graph) : of_(graph.funcs.size()) {
  for (const lang::FuncDef& f : graph.funcs)
    for (int i = 0; i < static_cast<int>(f.stages.size()); i++)
      for (const ir::CalleePtr& c : lang::callees(f.stages[i])) {
        if (c->kind != ir::CalleeKind::Func || c->index == f.id.value) continue;
        // Components of a Tuple are callees of their own.
        std::vector<StageId>& readers = of_[c->index];
        const StageId reader{f.id, i};
        if (readers.empty() || readers.back() != reader) readers.push_back(reader);
      }
}

bool Readers::reach(FuncId func, FuncId consumer) const {
  std::set<FuncId> seen;
  return reach_from(*this, func, consumer, seen);
}

}  // namespace calotype::schedule
