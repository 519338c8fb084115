// gpu_lanes: iterations become the lanes of a warp.
#include "schedule/gpu.h"

namespace calotype {

Stage& Stage::gpu_lanes(const LoopName& loop) { return record("gpu_lanes", {{"loop", loop.name}}); }
Stage& Stage::gpu_lanes(const LoopName& loop, Factor factor, Tail tail) {
  return record("gpu_lanes", schedule::with_tail({{"loop", loop.name}, {"by", factor}}, tail));
}

namespace schedule {

static void apply(Application& a) { apply_part(a, "l", ir::ThreadPart::Lane); }

DirectiveSpec gpu_lanes_spec() {
  return part_spec(
      "gpu_lanes", "lanes", warp_lanes,
      "Makes the iterations of a loop the lanes of a warp: thread x of the block is warp * 32 + lane. "
      "With a factor the loop is split first, into LOOP.o and LOOP.l, and LOOP.l is bound. Lanes "
      "beyond the loop's iterations do nothing. A reduction loop bound to lanes is combined by "
      "shuffles.",
      apply);
}

}  // namespace schedule
}  // namespace calotype
