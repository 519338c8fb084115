#pragma once
// Programs that are correct, to be damaged: operators under their GPU schedules, and two pipelines more.

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "calotype/calotype.h"
#include "cli/inputs.h"

namespace calotype::test {

struct Subject {
  std::string op, types, schedule;  ///< no types: a pipeline that is no operator
  cli::Sizes sizes;
  std::vector<std::pair<std::string, std::int64_t>> knobs =
      {};  ///< for loops that run more than once at small sizes
  /// Funcs of which any number near the right one gives the same results: what is subtracted in a softmax.
  std::string any_number_does = {};
  std::string name() const;
  friend void PrintTo(const Subject& s, std::ostream* out) { *out << s.name(); }
};
const std::vector<Subject>& subjects();

struct Scheduled {
  Pipeline pipeline;
  Schedule schedule;
};
Scheduled scheduled(const Subject& subject);

/// Arguments with the same random inputs each time.
cli::Call call_of(const Subject& subject, const Pipeline& pipeline);

}  // namespace calotype::test
