#pragma once
// `run --check=stages` and `--dump`: the values of the stages that a schedule gives storage.

#include <string>
#include <vector>

#include "calotype/schedule.h"
#include "cli/inputs.h"
#include "driver/stage_values.h"

namespace calotype::cli {

/// How a stage compares, and what the schedule says of it.
struct StageFinding : driver::StageComparison {
  std::vector<std::string> directives;  ///< as `schedule print` has them
};

/// What one schedule's stages hold. Empty unless asked for.
struct StageFindings {
  std::vector<StageFinding> compared;       ///< producers first; empty without --check=stages
  std::vector<std::string> inlined;         ///< stages without values of their own
  std::vector<driver::StageValues> values;  ///< of the stages compared or dumped
  bool passed() const { return first_different() == nullptr; }
  const StageFinding* first_different() const;
  /// Of a stage that was compared or dumped.
  const driver::StageValues& values_of(const std::string& name) const;
};

/// Runs the schedule with its stages stored: with `compare` all of them, else those of `dumps` (STAGE=FILE).
/// Error(Usage) for a stage that is not there or is inlined, and for a file that is no .npy.
StageFindings examine_stages(const Pipeline& pipeline, const Schedule& schedule, const Target& target,
                             const Call& call, bool compare, const Pairs& dumps);

/// Writes the values of stages to files.
void write_dumps(const Pairs& dumps, const StageFindings& findings);

/// "[-1, 18] x [0, 9]": the box of a buffer's coordinates.
std::string box_text(const Buffer& values);

}  // namespace calotype::cli
