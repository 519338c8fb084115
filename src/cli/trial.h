#pragma once
// One schedule compiled, called, timed and compared with the reference.

#include <optional>
#include <string>
#include <vector>

#include "calotype/pipeline.h"
#include "calotype/schedule.h"
#include "cli/check.h"
#include "cli/inputs.h"
#include "cli/stages.h"

namespace calotype::cli {

/// What a trial found. A refused schedule has a `refusal` and nothing else.
struct Trial {
  std::vector<std::pair<std::string, std::int64_t>> knobs;  ///< values of --set, by name
  std::optional<Diagnostic> refusal;
  double compile_seconds = 0, median_seconds = 0;
  int calls = 0;  ///< timed calls
  std::string numerics;
  std::vector<std::string> warnings;    ///< of the code generator
  std::vector<Comparison> comparisons;  ///< empty: not compared
  StageFindings stages;                 ///< with --check=stages and --dump
  bool passed() const;
};

/// `call` holds the buffers, outputs included; `reference` is null where nothing is to be compared. Outputs
/// are poisoned before the first call, so that an element never written does not pass. On a GPU the calls
/// that are timed have all arguments in its memory. Throws for a refused schedule or a failing call.
Trial try_schedule(const Pipeline& pipeline, const Schedule& schedule, const Target& target, const Call& call,
                   int repeat, const Evaluation* reference);

}  // namespace calotype::cli
