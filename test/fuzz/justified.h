#pragma once
// Which directive can justify that a call is refused.

#include <string>

#include "calotype/schedule.h"

namespace calotype::fuzz {

/// The directive that makes a promise on sizes and is named in a refusal as "#3 bound(...)", or turns calls
/// away with the message: its name, or nothing.
std::string named_promise(const Schedule& schedule, const std::string& message);

/// Whether copies of it are boxes, which calls have to pass tensors for.
bool copies_boxes(const Schedule& schedule);

/// Whether a refusal is about what an argument covers: more may be needed because a directive enlarges a
/// region.
bool is_about_regions(const std::string& message);

/// The schedule with regions as the algorithm needs them: without bounds, alignment and assumptions, and with
/// tails that compute nothing more. Equal to the schedule if that enlarges nothing.
Schedule with_exact_regions(const Schedule& schedule);

}  // namespace calotype::fuzz
