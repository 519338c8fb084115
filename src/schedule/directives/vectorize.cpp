// vectorize: iterations become the lanes of a vector.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/lane_nest.h"
#include "schedule/loops.h"

namespace calotype {

using schedule::Value;

Stage& Stage::vectorize(const LoopName& loop) { return record("vectorize", {{"loop", loop.name}}); }
Stage& Stage::vectorize(const LoopName& loop, Factor factor, Tail tail) {
  return record("vectorize", schedule::with_tail({{"loop", loop.name}, {"by", factor}}, tail));
}

namespace schedule {

static void apply(Application& a) {
  LoopId loop = a.loop("loop");
  if (a.has("by")) {
    const std::string name = a.name("loop");
    loop = split_loop(a, loop, name + ".o", name + ".v", a.integer("by"), a.tail()).inner;
  }
  bind_loop(a, loop, ir::Binding::Vector);
}

/// Loops that are vectorised together have their product of lanes.
static void check_lanes(const Application& a) {
  std::int64_t lanes = 1;
  int loops = 0, last = -1;
  for (LoopId id : a.state.loops_of(a.func, a.stage).loops) {
    if (a.state.loop(id).binding != ir::Binding::Vector) continue;
    ++loops;
    last = std::max(last, a.state.loop_directives[id.value]);
    lanes *= std::min(constant_extent(a.state, a.func, a.stage, id).value_or(1), kMostLanes + 1);
  }
  if (loops > 1 && lanes > kMostLanes && last == a.index)  // said once
    a.refuse(fmt::format("the {} vector loops of {} have {} lanes together", loops,
                         a.state.stage_name(a.func, a.stage), lanes),
             a.name("loop"), fmt::format("at most {} lanes in all", kMostLanes));
}

// The extent may be promised by a later `bound`, so it is looked at last.
static void check(Application& a) {
  if (!a.has("by")) require_constant_extent(a, a.name("loop"), kMostLanes);
  check_lanes(a);
}

DirectiveSpec vectorize_spec() {
  return {
      .name = "vectorize",
      .addresses = Addresses::Stage,
      .doc =
          "Makes the iterations the lanes of vector operations. With a factor the loop is split first, into "
          "LOOP.o and LOOP.v, and LOOP.v is vectorised. Several loops of a stage may be vectorised: together "
          "they are one vector of all their iterations. At the edges of a region on a host, lanes whose "
          "coordinates are clamped are computed one by one. Lanes of a reduction loop that all update one "
          "place, by an operation proved to be associative (as for `rfactor`), have partial results, kept as "
          "a vector over the reduction loops around and combined at the end. Lanes that write places of "
          "their own, or whose update is `atomic`, need no proof.",
      .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"},
               {.name = "by", .kind = ArgKind::Integer, .doc = "lanes", .optional = true, .high = kMostLanes},
               tail_argument()},
      .reorders = "if lanes have partial results of floats, as f(...) op term",
      .refused = {"the loop is a reduction loop of which two lanes may meet in one place (a race), and the "
                  "update is neither proved to be associative nor atomic",
                  "a loop that is no vector lies inside such lanes of partial results and moves the place",
                  "the extent of the loop is not a constant of at most 256, and no factor is given; inside a "
                  "loop of a consumer bounds inference decides",
                  "the vector loops of the stage have more than 256 lanes together",
                  "the loop is bound already"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
