#pragma once
// What differs between two schedules.

#include <string>

#include "calotype/schedule.h"

namespace calotype::schedule {

/// Knobs and directives of both, one a line: "- " only in `a`, "+ " only in `b`, "  " in both. Empty if they
/// are equal.
std::string diff(const Schedule& a, const Schedule& b);

}  // namespace calotype::schedule
