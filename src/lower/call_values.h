#pragma once
// What a call can compute before anything of it runs: the plan checks and sizes with integers alone, so ends
// of regions that rest on floats (or on operations that it has not) give way to all that they may be.

#include "ir/simplify.h"

namespace calotype::lower {

/// Whether the plan of a call computes an integer of sizes and Params. A Param of 32 or 64 bits may be a
/// float where it is cast; what is computed with floats is not: code that computes it again may round it
/// otherwise.
bool computed_by_calls(const Expr& e);

/// An interval in which `i` lies whatever the values are that a call does not compute: `clamp(s64(p * 2.0),
/// 0, 3)` becomes 0 to 3. An end that is unbounded then, or was computed by calls, stays.
ir::Interval widened_for_calls(const ir::Interval& i, const ir::Facts& facts);

}  // namespace calotype::lower
