// cluster: iterations become the blocks of a cluster.
#include <fmt/format.h>

#include "schedule/gpu.h"
#include "schedule/loops.h"

namespace calotype {

Stage& Stage::cluster(const LoopName& loop) { return record("cluster", {{"loop", loop.name}}); }

namespace schedule {

static void apply(Application& a) {
  const LoopId loop = a.loop("loop");
  require_bindable(a, loop);
  const Target& target = a.state.out.target;
  if (most_cluster_blocks(target) == 1)
    a.refuse(fmt::format("the target {} has no clusters of blocks", target.str()), a.state.loop(loop).name,
             "sm_90 and later; gpu_blocks on this one");
  for (LoopId id : a.loops().loops)
    if (a.state.loop(id).binding == ir::Binding::GpuCluster)
      a.refuse(fmt::format("'{}' is bound to the blocks of a cluster already", a.state.loop(id).name),
               a.state.loop(loop).name, "one loop a stage; fuse makes one of two");
  bind_loop(a, loop, ir::Binding::GpuCluster);
}

DirectiveSpec cluster_spec() {
  return {
      .name = "cluster",
      .addresses = Addresses::Stage,
      .doc =
          "Makes the iterations of a loop the blocks of a cluster, which run at one time and reach each "
          "other's shared memory. The loop stands inside the block loops, of the stage itself or of the one "
          "it is computed in: what is computed outside it is there once a cluster, in each of its blocks or "
          "dealt out to them, in registers or shared memory; what is computed inside it once a block. A "
          "reduction loop bound to the cluster "
          "is "
          "combined like those of threads (see gpu_threads).",
      .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"}},
      .reorders = "if a reduction loop's blocks have partial results",
      .refused =
          {"the target is no GPU, or has no clusters (below sm_90)",
           "the loop has more iterations than the target has blocks in a cluster: 8, on sm_90 and sm_100 "
           "16",
           "the stage has such a loop already",
           "the stage is computed inside a thread or at a loop of the cluster, or outside every block",
           "each block would hold a part of what is computed once a cluster, and store_in says neither "
           "shared nor register",
           "a block reads another one's part",
           "a loop is a reduction loop of which two iterations may meet in one place, and threads have no "
           "partial results",
           "the loop is bound already"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
