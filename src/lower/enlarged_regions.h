#pragma once
// Which directives let a schedule compute, and so read, more than the algorithm needs.

#include <string>

#include "schedule/scheduled.h"

namespace calotype::lower {

/// "#3 align_bounds(x, 8), #5 split(x, xo, xi, 8, round_up)": what enlarges regions, empty if nothing does.
std::string enlarging_directives(const schedule::Scheduled& scheduled);

}  // namespace calotype::lower
