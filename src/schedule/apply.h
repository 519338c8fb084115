#pragma once
// Applying a schedule, with the position of each refused directive.

#include "schedule/condition.h"
#include "schedule/state.h"

namespace calotype::schedule {

Scheduled apply(const lang::Graph& graph, const Schedule& schedule, const Target& target,
                std::vector<Refusal>& refusals);

/// What distinguishes one way through a schedule's conditions.
struct Branching {
  std::vector<bool> active;  ///< which directives count
  std::vector<Decision> decisions;
  StrideSymbols strides;
  std::optional<Rejection> rejection;
};
/// One way: the directives that count, as if they addressed the stages themselves. `schedule` must outlive
/// nothing: the result has copies.
Scheduled apply_one_way(const lang::Graph& graph, const Schedule& schedule, const Target& target,
                        const Branching& branching, std::vector<Refusal>& refusals);

}  // namespace calotype::schedule
