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
  std::vector<std::pair<std::string, Value>> args = {{"loops", Value::List{loop.name}}, {"by", factor}};
  if (tail != Tail::Auto) args.emplace_back("tail", schedule::text_of(tail));
  return record("gpu_threads", std::move(args));
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
  return {.name = "gpu_threads",
          .addresses = Addresses::Stage,
          .doc =
              "Makes the iterations of up to three loops the threads of a block: the first loop is x, then "
              "y, then z. "
              "With a factor the loop is split first, into LOOP.o and LOOP.t, and LOOP.t is bound.",
          .args = {{.name = "loops", .kind = ArgKind::Loop, .doc = "the loops, x first", .list = true},
                   {.name = "by",
                    .kind = ArgKind::Integer,
                    .doc = "threads along the loop",
                    .optional = true,
                    .high = most_threads},
                   tail_argument()},
          .refused =
              {"the target is no GPU",
               "the stage has more than three thread loops, more than 1024 threads, or 64 along z",
               "a loop is a reduction loop of which two iterations may meet in one place (a race), and the "
               "update is not atomic",
               "the stage is neither inside its own block loops nor computed inside a block",
               "the stage is computed inside a thread already", "a loop is bound already"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
