// gpu_warps: iterations become the warps of a block.
#include "schedule/gpu.h"
#include "schedule/loops.h"

namespace calotype {

using schedule::Value;

Stage& Stage::gpu_warps(const LoopName& loop) { return record("gpu_warps", {{"loop", loop.name}}); }
Stage& Stage::gpu_warps(const LoopName& loop, Factor factor, Tail tail) {
  std::vector<std::pair<std::string, Value>> args = {{"loop", loop.name}, {"by", factor}};
  if (tail != Tail::Auto) args.emplace_back("tail", schedule::text_of(tail));
  return record("gpu_warps", std::move(args));
}

namespace schedule {

static void apply(Application& a) {
  LoopId loop = a.loop("loop");
  const std::string name = a.state.loop(loop).name;
  require_bindable(a, loop);
  if (a.has("by")) loop = split_loop(a, loop, name + ".o", name + ".w", a.integer("by"), a.tail()).inner;
  bind_part(a, loop, ir::ThreadPart::Warp);
}

DirectiveSpec gpu_warps_spec() {
  return {
      .name = "gpu_warps",
      .addresses = Addresses::Stage,
      .doc =
          "Makes the iterations of a loop the warps of a block: thread x of the block is warp * 32 + lane. "
          "With a factor the loop is split first, into LOOP.o and LOOP.w, and LOOP.w is bound.",
      .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"},
               {.name = "by",
                .kind = ArgKind::Integer,
                .doc = "warps along the loop",
                .optional = true,
                .high = most_threads / warp_lanes},
               tail_argument()},
      .reorders = "if a reduction loop's threads have partial results",
      .refused =
          {"the target is no GPU", "the loop has more than 32 iterations",
           "another loop of the stage is bound to them, or a loop to threads as a whole",
           "the block has threads along y or z",
           "a loop is a reduction loop of which two iterations may meet in one place (a race), and neither "
           "is the update atomic nor have threads partial results (see gpu_threads)",
           "the stage is neither inside its own block loops nor computed inside a block",
           "the stage is computed inside a thread already", "the loop is bound already"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
