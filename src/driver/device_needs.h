#pragma once
// What a schedule needs of a device, as templates of schedule files list it.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calotype/schedule_file.h"
#include "schedule/ways.h"

namespace calotype::driver {

/// "threads" a block and "shared_kb", the shared memory of a block in units of 1024 bytes, each if there is
/// any: of its ways and their kernels the one that asks for most. Lowers each way for a GPU. Errors: as
/// lowering.
std::vector<std::pair<std::string, std::int64_t>> device_needs(const schedule::Ways& ways);

/// What the template says of its needs that is less than `needed`, what its cases need, or more if these are
/// all of its cases.
std::optional<Diagnostic> misstated_need(const schedule::FileTemplate& listed,
                                         const std::map<std::string, std::int64_t>& needed, bool all_cases);

}  // namespace calotype::driver
