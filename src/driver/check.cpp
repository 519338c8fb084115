// Schedule::check: what compile would refuse, without making code. It stands in this layer because lowering
// refuses schedules too, and schedules know nothing of lowering.

#include "calotype/pipeline.h"
#include "calotype/schedule.h"
#include "driver/kernel_impl.h"

namespace calotype {
std::vector<Diagnostic> Schedule::check(const Pipeline& pipeline, const Target& target) const {
  std::vector<Diagnostic> diagnostics;
  try {
    std::vector<schedule::Refusal> refusals;
    schedule::Ways ways = schedule::apply_ways(pipeline.graph(), *this, target, refusals);
    for (schedule::Refusal& r : refusals) diagnostics.push_back(std::move(r.diagnostic));
    if (!diagnostics.empty()) return diagnostics;
    // Lowering stops at its first refusal: a pass needs what the ones before it leave.
    for (schedule::Way& way : ways.ways) {
      const lower::Options options =
          driver::lower_options(way.scheduled, {}, driver::dense_class(way.scheduled, {}));
      lower::lower(std::move(way.scheduled), options);
    }
  } catch (const Error& error) {
    diagnostics.push_back(error.diagnostic());
  } catch (const std::exception& error) {
    diagnostics.push_back({.kind = ErrorKind::Internal, .message = error.what()});
  }
  return diagnostics;
}

}  // namespace calotype
