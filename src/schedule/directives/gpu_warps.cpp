// gpu_warps: iterations become the warps of a block.
#include "schedule/gpu.h"

namespace calotype {

Stage& Stage::gpu_warps(const LoopName& loop) { return record("gpu_warps", {{"loop", loop.name}}); }
Stage& Stage::gpu_warps(const LoopName& loop, Factor factor, Tail tail) {
  return record("gpu_warps", schedule::with_tail({{"loop", loop.name}, {"by", factor}}, tail));
}

namespace schedule {

static void apply(Application& a) { apply_part(a, "w", ir::ThreadPart::Warp); }

DirectiveSpec gpu_warps_spec() {
  return part_spec(
      "gpu_warps", "warps", most_threads / warp_lanes,
      "Makes the iterations of a loop the warps of a block: thread x of the block is warp * 32 + lane. "
      "With a factor the loop is split first, into LOOP.o and LOOP.w, and LOOP.w is bound.",
      apply);
}

}  // namespace schedule
}  // namespace calotype
