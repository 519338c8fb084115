// gpu_threads: iterations become the threads of a block.
#include <fmt/format.h>

#include "schedule/gpu.h"
#include "schedule/loops.h"

namespace calotype {

using schedule::Value;

Stage& Stage::gpu_threads(const std::vector<LoopName>& loops) {
  return record("gpu_threads", {{"loops", schedule::names_of(loops)}});
}
Stage& Stage::gpu_threads(const LoopName& loop, Factor factor, Tail tail) {
  return record("gpu_threads",
                schedule::with_tail({{"loops", Value::List{loop.name}}, {"by", factor}}, tail));
}

namespace schedule {

static void apply(Application& a) {
  std::vector<LoopId> loops = a.loop_list("loops");
  if (a.has("by")) {
    const std::string name = a.names("loops")[0];
    if (loops.size() > 1)
      a.refuse("a factor goes with one loop", fmt::format("{} loops", loops.size()),
               "one loop, or no factor");
    require_bindable(a, loops[0]);
    loops[0] = split_loop(a, loops[0], name + ".o", name + ".t", a.integer("by"), a.tail()).inner;
  }
  bind_axes(a, loops, ir::Binding::GpuThread);
}

DirectiveSpec gpu_threads_spec() {
  return {
      .name = "gpu_threads",
      .addresses = Addresses::Stage,
      .doc =
          "Makes the iterations of up to three loops the threads of a block: the first loop is x, then "
          "y, then z. "
          "With a factor the loop is split first, into LOOP.o and LOOP.t, and LOOP.t is bound. "
          "A reduction loop of an associative update may be bound where the Func is computed in the block "
          "and stored in registers: each thread has a partial result of its own over the other reduction "
          "loops; then all of them are combined, by shuffles within a warp and through shared memory "
          "between warps, and every thread has the result. The loops that are not reduced over stand "
          "outside; those bound to threads tell the groups that are combined.",
      .args = {{.name = "loops", .kind = ArgKind::Loop, .doc = "the loops, x first", .list = true},
               {.name = "by",
                .kind = ArgKind::Integer,
                .doc = "threads along the loop",
                .optional = true,
                .high = most_threads},
               tail_argument()},
      .reorders = "if a reduction loop's threads have partial results",
      .refused =
          {"the target is no GPU",
           "the stage has more than three thread loops, more than 1024 threads, or 64 along z",
           "a loop is a reduction loop of which two iterations may meet in one place (a race), and neither "
           "is the update atomic nor may threads have partial results: the update is not proved "
           "associative, or the Func is not kept in registers of the block",
           "the terms of such an update count in their order (as where the first of equal ones is chosen), "
           "and other reduction loops stand outside the loop or lanes inside",
           "the stage is neither inside its own block loops nor computed inside a block",
           "the stage is computed inside a thread already", "a loop is bound already"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
