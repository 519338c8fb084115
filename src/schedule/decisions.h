#pragma once
// What conditions that are decided say: of sizes, as assumptions; of expressions, which become simpler.

#include "ir/known_condition.h"
#include "schedule/state.h"

namespace calotype::schedule {

/// The conditions that hold because of a decision, without any && between them.
std::vector<Expr> parts_of(const Decision& decision);

/// Sizes of which the decisions give a range, a multiple or the value are assumed to be such, as by `assume`.
/// Stands before the directives, since a size with one value is a constant to them.
void assume_decided(State& state);
/// Conditions in definitions that the decisions settle, and what hangs on them, are left out; integer Params
/// of one value are constants. Stands after the directives, which speak of the algorithm as it was written.
void simplify_decided(State& state);

}  // namespace calotype::schedule
