#pragma once
// The `measured` object of a case: how fast it was, where, by which version; and whether that still holds.

#include <string>

#include "calotype/schedule.h"
#include "calotype/target.h"
#include "cli/json.h"
#include "cli/sizes.h"

namespace calotype::cli {

/// A measurement of this moment on this machine.
Json measured_json(const Schedule& schedule, const Target& target, const Sizes& sizes, double seconds);

/// Why a measurement of a case no longer speaks for it: another version of the library or of NVRTC, or
/// directives or knobs that have changed since. Empty: it does. `measured` is a case's object.
std::string stale_text(const Json& measured, const Schedule& schedule);

}  // namespace calotype::cli
