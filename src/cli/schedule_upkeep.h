#pragma once
// `calotype schedule rebind` and `schedule status`: schedule files over time.

#include "cli/command.h"

namespace calotype::cli {

/// Gives a file the names that the operator has now, where its structure is the same.
Outcome rebind_files(const ScheduleOptions& options);
/// For each case of each file: where and when it was measured, by which version, and whether that is stale.
Outcome status_of_files(const ScheduleOptions& options);

}  // namespace calotype::cli
