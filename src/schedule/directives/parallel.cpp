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
  bind_loop(a, loop, ir::Binding::Parallel);
}

DirectiveSpec parallel_spec() {
  return {.name = "parallel",
          .addresses = Addresses::Stage,
          .doc =
              "Spreads the iterations over the threads of the host. A reduction loop may be one if each "
              "iteration is proved to write places of its own and to read none that another one writes, or "
              "if the update is `atomic`.",
          .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"}},
          .refused = {"the loop is a reduction loop of which two iterations may meet in one place (a race), "
                      "and the update is not atomic",
                      "the target is a GPU", "the loop is bound already"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
