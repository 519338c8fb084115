#pragma once
// What a schedule leaves unsaid (`"defaults": 1`): a function of the algorithm alone.

#include "schedule/state.h"

namespace calotype::schedule {

/// The number that schedule files name; a change of the rules below needs a new one.
inline constexpr int defaults_version = 1;

/// Which Funcs of an algorithm are inlined where no directive gives them a place, by FuncId.
std::vector<bool> inlined_by_default(const lang::Graph& graph);

/// A place for each Func without one: inlined or at root. Funcs that directives made are at root.
void default_places(State& state);
/// Loops for each stage at root that no directive addresses or refers to.
void default_loops(State& state);

}  // namespace calotype::schedule
