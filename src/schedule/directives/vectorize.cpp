// vectorize: iterations become the lanes of a vector.
#include <fmt/format.h>

#include "schedule/loops.h"

namespace calotype {

using schedule::Value;

Stage& Stage::vectorize(const LoopName& loop) { return record("vectorize", {{"loop", loop.name}}); }
Stage& Stage::vectorize(const LoopName& loop, Factor factor, Tail tail) {
  std::vector<std::pair<std::string, Value>> args = {{"loop", loop.name}, {"by", factor}};
  if (tail != Tail::Auto) args.emplace_back("tail", schedule::text_of(tail));
  return record("vectorize", std::move(args));
}

namespace schedule {

constexpr std::int64_t most_lanes = 256;

static void apply(Application& a) {
  LoopId loop = a.loop("loop");
  require_pure(a, loop);
  for (LoopId id : a.loops().loops)
    if (a.state.loop(id).binding == ir::Binding::Vector)
      a.refuse(fmt::format("{} is vectorised already, over '{}'", a.state.stage_name(a.func, a.stage),
                           a.state.loop(id).name),
               a.name("loop"), "one vector loop a stage");
  if (a.has("by")) {
    const std::string name = a.name("loop");
    loop = split_loop(a, loop, name + ".o", name + ".v", a.integer("by"), a.tail()).inner;
  }
  bind_loop(a, loop, ir::Binding::Vector);
}

// The extent may be promised by a later `bound`, so it is looked at last.
static void check(Application& a) {
  if (!a.has("by")) require_constant_extent(a, a.name("loop"), most_lanes);
}

DirectiveSpec vectorize_spec() {
  return {
      .name = "vectorize",
      .addresses = Addresses::Stage,
      .doc =
          "Makes the iterations the lanes of vector operations. With a factor the loop is split first, into "
          "LOOP.o "
          "and LOOP.v, and LOOP.v is vectorised. At the edges of a region on a host, lanes whose coordinates "
          "are "
          "clamped are computed one by one.",
      .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"},
               {.name = "by", .kind = ArgKind::Integer, .doc = "lanes", .optional = true, .high = most_lanes},
               tail_argument()},
      .refused = {"the loop is a reduction loop: its iterations update the same points (a race)",
                  "the stage has a vector loop already",
                  "the extent of the loop is not a constant of at most 256, and no factor is given; inside a "
                  "loop of a consumer bounds inference decides",
                  "the loop is bound already"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
