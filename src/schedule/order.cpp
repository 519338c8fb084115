// Which changes of a stage's loop order keep its meaning.
//
// A pure loop's iterations write different points and read the Func only at the point they write (the front
// end refuses other updates), so it may change places with any loop. So may a reduction loop of which that is
// proved. Two other reduction loops may if the update is associative: the order of a sum does not matter, but
// for floats its rounding does, so that is listed. In a stage without updates every order computes the same.
#include "schedule/order.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/meetings.h"

namespace calotype::schedule {

OrderChange compare_order(const State& state, FuncId func, int stage, const std::vector<LoopId>& before,
                          const std::vector<LoopId>& after) {
  OrderChange change;
  if (stage == 0) return change;
  auto place = [&](LoopId id) { return std::find(after.begin(), after.end(), id) - after.begin(); };
  auto note = [&](LoopId id) {
    auto& list = change.reassociated;
    if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
  };
  for (std::size_t i = 0; i < before.size(); i++) {
    for (std::size_t j = i + 1; j < before.size(); j++) {
      const LoopId inner = before[i], outer = before[j];
      if (place(inner) < place(outer)) continue;
      if (is_independent(state, func, stage, inner) || is_independent(state, func, stage, outer)) continue;
      if (state.def(func, stage).reduce_op) {
        note(inner);
        note(outer);
        continue;
      }
      change.refusal = fmt::format("exchanging '{}' and '{}' changes the order of updates of '{}'",
                                   state.loop(inner).name, state.loop(outer).name, state.def(func).name);
      change.value = state.loop(outer).name;
      change.legal =
          fmt::format("an order that keeps '{}' inside '{}'", state.loop(inner).name, state.loop(outer).name);
      return change;
    }
  }
  return change;
}

}  // namespace calotype::schedule
