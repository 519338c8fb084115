// Schedule::check: what compile would refuse, without making code. It stands in this layer because lowering
// refuses schedules too, and schedules know nothing of lowering.

#include "calotype/pipeline.h"
#include "calotype/schedule.h"
#include "driver/kernel_impl.h"

namespace calotype {
std::vector<Diagnostic> Schedule::check(const Pipeline& pipeline, const Target& target) const {
  std::vector<Diagnostic> diagnostics;
  try {
    schedule::Scheduled scheduled = schedule::apply(pipeline.graph(), *this, target, diagnostics);
    // Lowering stops at its first refusal: a pass needs what the ones before it leave.
    if (diagnostics.empty()) {
      const lower::Options options = driver::lower_options(scheduled, {}, driver::dense_class(scheduled, {}));
      lower::lower(std::move(scheduled), options);
    }
  } catch (const Error& error) {
    diagnostics.push_back(error.diagnostic());
  } catch (const std::exception& error) {
    diagnostics.push_back({.kind = ErrorKind::Internal, .message = error.what()});
  }
  return diagnostics;
}

}  // namespace calotype
