#pragma once
// Making a failing pair smaller while it fails in the same way.

#include "fuzz/property.h"

namespace calotype::fuzz {

/// The outcome of a pair in a child: a crash is a failure whose `what` says how it ended.
Outcome try_in_child(const Pair& pair);

/// Drops directives, outputs, Funcs and updates, simplifies expressions and sizes, as long as the outcome's
/// `what` stays as it was; tries at most so many pairs.
Pair shrunk(const Pair& pair, const Outcome& outcome, int most_tries);

}  // namespace calotype::fuzz
