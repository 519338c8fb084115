// parallel: iterations on several threads of the host.
#include <fmt/format.h>

#include "schedule/loops.h"

namespace calotype {

Stage& Stage::parallel(const LoopName& loop) { return record("parallel", {{"loop", loop.name}}); }

namespace schedule {

static void apply(Application& a) {
  const LoopId loop = a.loop("loop");
  if (a.state.out.target.is_gpu())
    a.refuse(fmt::format("the target {} runs every loop on the GPU, which has no parallel loops of the host",
                         a.state.out.target.str()),
             a.name("loop"), "gpu_blocks, gpu_threads");
  require_pure(a, loop);
  bind_loop(a, loop, ir::Binding::Parallel);
}

DirectiveSpec parallel_spec() {
  return {.name = "parallel",
          .addresses = Addresses::Stage,
          .doc = "Spreads the iterations over the threads of the host.",
          .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"}},
          .refused = {"the loop is a reduction loop: its iterations update the same points (a race)",
                      "the target is a GPU", "the loop is bound already"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
