#pragma once
// What `run --profile` found, for people and for programs.

#include <string>

#include "cli/json.h"
#include "driver/profile.h"

namespace calotype::cli {

/// A table of the Funcs, one a line, and the warnings. `median_seconds` is what a call without meters takes.
std::string profile_text(const driver::Profile& profile, double median_seconds);
/// {call_seconds, thread_seconds, waiting_seconds, clock_starts, clock_share, threads, calls, funcs: [{name,
/// place, seconds, share, peak_bytes, loads, gathers, stores, scalars, points, needed, times_over,
/// warnings}], inlined}.
Json profile_json(const driver::Profile& profile);

}  // namespace calotype::cli
