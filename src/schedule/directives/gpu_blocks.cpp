// gpu_blocks: iterations become the blocks of a grid.
#include "schedule/gpu.h"

namespace calotype {

Stage& Stage::gpu_blocks(const std::vector<LoopName>& loops) {
  return record("gpu_blocks", {{"loops", schedule::names_of(loops)}});
}

namespace schedule {

static void apply(Application& a) { bind_axes(a, a.loop_list("loops"), ir::Binding::GpuBlock); }

DirectiveSpec gpu_blocks_spec() {
  return {.name = "gpu_blocks",
          .addresses = Addresses::Stage,
          .doc =
              "Makes the iterations of up to three loops the blocks of a grid: the first loop is x, then y, "
              "then z.",
          .args = {{.name = "loops", .kind = ArgKind::Loop, .doc = "the loops, x first", .list = true}},
          .refused =
              {"the target is no GPU", "the stage has more than three block loops",
               "a loop is a reduction loop of which two iterations may meet in one place (a race), and the "
               "update is not atomic",
               "a loop that is not bound to blocks lies outside one that is",
               "the Func is computed inside a block already", "a loop is bound already"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
