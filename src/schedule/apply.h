#pragma once
// Applying a schedule, with the position of each refused directive.

#include "schedule/state.h"

namespace calotype::schedule {

Scheduled apply(const lang::Graph& graph, const Schedule& schedule, const Target& target,
                std::vector<Refusal>& refusals);

}  // namespace calotype::schedule
