#pragma once
// Whether a point of an output lies in a tail: in the last, partial tile of a split.

#include <string>
#include <vector>

#include "schedule/scheduled.h"

namespace calotype::cli {

/// The splits in whose tail the point lies, as "#2 split(x, xo, xi, 32)", joined by "; "; empty: in none.
/// `extents` are those of the Func's box, whose coordinates start at 0.
std::string tail_at(const schedule::Scheduled& scheduled, lang::FuncId func,
                    const std::vector<std::int64_t>& at, const std::vector<std::int64_t>& extents);

}  // namespace calotype::cli
