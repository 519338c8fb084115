#pragma once
// What `run --check=stages` and `--dump` found, for people and for programs.

#include <string>

#include "cli/json.h"
#include "cli/options.h"
#include "cli/stages.h"

namespace calotype::cli {

/// Nothing if no stages were compared.
std::string stages_text(const StageFindings& findings);
/// {first_different, inlined, comparisons}.
Json stages_json(const StageFindings& findings);
/// A failed stage in the shape of every other failure.
Json stage_error(const StageFinding& finding);

std::string dumps_text(const Pairs& dumps, const StageFindings& findings);
/// For each stage: file, and the box as `min` and `extent`, dimension 0 first.
Json dumps_json(const Pairs& dumps, const StageFindings& findings);

}  // namespace calotype::cli
