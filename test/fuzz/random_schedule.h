#pragma once
// Random schedules: legal for the most part, and mutations that may not be.

#include <functional>

#include "calotype/schedule.h"
#include "fuzz/program.h"
#include "fuzz/random.h"

namespace calotype::fuzz {

/// `checking` hears each schedule before it is checked.
Schedule generate_schedule(Random& random, const Program& program, const Pipeline& pipeline,
                           const Target& target, const std::function<void(const Schedule&)>& checking);

/// The same directives and knobs but for one directive, which is left out.
Schedule without(const Schedule& schedule, std::size_t directive);
/// Directives in place of those of `schedule`; the knobs stay.
Schedule with_directives(const Schedule& schedule, const std::vector<schedule::Directive>& directives);

}  // namespace calotype::fuzz
