#pragma once
// What a schedule needs of a device, as templates of schedule files list it.

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

/// What a template says that it needs less than `schedule`, which is a case of it, does.
std::optional<Diagnostic> understated_need(const schedule::FileTemplate& listed, const Pipeline& pipeline,
                                           const Schedule& schedule, const Target& target);

}  // namespace calotype::driver
