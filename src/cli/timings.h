#pragma once
// `show --timings`: what each step of a compilation took.

#include <string>
#include <vector>

#include "calotype/pipeline.h"
#include "calotype/schedule.h"
#include "cli/json.h"
#include "driver/kernel_impl.h"

namespace calotype::cli {

/// The steps of the fastest of some compilations.
struct Timings {
  std::vector<driver::StepTime> steps;
  double seconds = 0;        ///< of all steps
  double first_seconds = 0;  ///< of the first compilation, which also sets the backend up
  int compilations = 0;
};

/// Compiles several times for the host, once for other targets, whose code is kept in the disk cache.
Timings time_compilation(const Pipeline& pipeline, const Schedule& schedule, const Target& target);

/// A table: part, step, time and share, with a total for each part.
std::string timings_text(const Timings& timings);
/// {seconds, first_seconds, compilations, parts: [{part, seconds, share, steps: [{step, seconds, share}]}]}.
Json timings_json(const Timings& timings);

}  // namespace calotype::cli
