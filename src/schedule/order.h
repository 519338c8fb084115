#pragma once
// Which changes of a stage's loop order keep its meaning.

#include "schedule/state.h"

namespace calotype::schedule {

/// Going from one order of a stage's loops to another.
struct OrderChange {
  std::string refusal, value, legal;  ///< empty: the change is legal
  std::vector<LoopId> reassociated;   ///< reduction loops whose iterations come in another order
};
OrderChange compare_order(const State& state, FuncId func, int stage, const std::vector<LoopId>& before,
                          const std::vector<LoopId>& after);

}  // namespace calotype::schedule
