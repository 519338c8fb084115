// reorder: loops change places among themselves.
#include <algorithm>

#include "schedule/loops.h"

namespace calotype {

Stage& Stage::reorder(const std::vector<LoopName>& loops) {
  return record("reorder", {{"loops", schedule::names_of(loops)}});
}

namespace schedule {

static void apply(Application& a) {
  const std::vector<LoopId> wanted = a.loop_list("loops");
  std::vector<LoopId> order = a.loops().loops;
  std::size_t next = 0;
  for (LoopId& place : order)
    if (std::find(wanted.begin(), wanted.end(), place) != wanted.end()) place = wanted[next++];
  reorder_loops(a, order);
}

DirectiveSpec reorder_spec() {
  return {.name = "reorder",
          .addresses = Addresses::Stage,
          .doc =
              "Puts the loops named, innermost first, into the places that they have among themselves; loops "
              "that are "
              "not named stay where they are.",
          .args = {{.name = "loops",
                    .kind = ArgKind::Loop,
                    .doc = "the loops, innermost first",
                    .list = true,
                    .least = 2}},
          .reorders = "if reduction loops of an associative update change places",
          .refused = {"a loop is missing or named twice",
                      "the update reads itself at other points or is not associative, and the exchange "
                      "changes the order "
                      "of updates"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
