// Directives that enlarge regions, for what callers are told of too small an input.
#include "lower/enlarged_regions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace calotype::lower {

std::string enlarging_directives(const schedule::Scheduled& scheduled) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& origin) {
    if (!origin.empty() && origin != "default" && std::find(all.begin(), all.end(), origin) == all.end())
      all.push_back(origin);
  };
  for (const schedule::FuncSchedule& f : scheduled.funcs) {
    for (const schedule::BoundPromise& b : f.bounds) add(b.origin);
    for (const schedule::BoundAlignment& a : f.alignments) add(a.origin);
    for (const schedule::StageSchedule& s : f.stages)
      for (const schedule::Transform& t : s.transforms)
        if (t.tail == Tail::RoundUp || t.tail == Tail::ShiftInwards || t.tail == Tail::PredicateStores)
          add(t.origin);
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace calotype::lower
