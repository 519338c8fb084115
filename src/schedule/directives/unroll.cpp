// unroll: the body once for each iteration.
#include <fmt/format.h>

#include "schedule/loops.h"

namespace calotype {

using schedule::Value;

Stage& Stage::unroll(const LoopName& loop) { return record("unroll", {{"loop", loop.name}}); }
Stage& Stage::unroll(const LoopName& loop, Factor factor, Tail tail) {
  return record("unroll", schedule::with_tail({{"loop", loop.name}, {"by", factor}}, tail));
}

namespace schedule {

constexpr std::int64_t most_copies = 1024;

static void apply(Application& a) {
  LoopId loop = a.loop("loop");
  if (a.has("by")) {
    const std::string name = a.name("loop");
    loop = split_loop(a, loop, name + ".o", name + ".u", a.integer("by"), a.tail()).inner;
  }
  bind_loop(a, loop, ir::Binding::Unrolled);
}

// The extent may be promised by a later `bound`, so it is looked at last.
static void check(Application& a) {
  if (!a.has("by")) require_constant_extent(a, a.name("loop"), most_copies);
}

DirectiveSpec unroll_spec() {
  return {
      .name = "unroll",
      .addresses = Addresses::Stage,
      .doc =
          "Writes the body once for each iteration. With a factor the loop is split first, into LOOP.o "
          "and LOOP.u, "
          "and LOOP.u is unrolled. At the edges of a region on a host, where the body would be written with "
          "tests in "
          "it, it stays a loop.",
      .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"},
               {.name = "by",
                .kind = ArgKind::Integer,
                .doc = "iterations to unroll",
                .optional = true,
                .high = most_copies},
               tail_argument()},
      .refused = {"the extent of the loop is not a constant (a split by a constant, a bound, a fixed "
                  "reduction) of at "
                  "most 1024, and no factor is given; inside a loop of a consumer bounds inference decides",
                  "the body would be written more than 1024 times by the unrolled loops around it together",
                  "the loop is bound already"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
