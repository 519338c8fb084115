// multicast: what the blocks of a cluster copy for each other.
#include <fmt/format.h>

#include "schedule/gpu.h"
#include "schedule/loops.h"

namespace calotype {

Stage& Stage::multicast(const LoopName& loop) { return record("multicast", {{"loop", loop.name}}); }

namespace schedule {

static void apply(Application& a) {
  const LoopId loop = a.loop("loop");
  const Target& target = a.state.out.target;
  if (most_cluster_blocks(target) == 1)
    a.refuse(fmt::format("the target {} has no clusters of blocks", target.str()), a.name("loop"),
             "sm_90 and later; no multicast on this one");
  if (a.loops().multicast)
    a.refuse(fmt::format("what the blocks copy is dealt out already, by {}", a.loops().multicast->origin),
             a.name("loop"), "one loop a Func");
  a.loops().multicast = Multicast{loop, a.origin()};
}

static void check(Application& a) {
  const std::string &func = a.func_def().name, &name = a.name("loop");
  const Loop& loop = a.state.loop(a.loops().multicast->loop);
  if (!loop.replaced_by.empty())
    a.refuse(fmt::format("the loop '{}' is gone: {} stands in its place", name, loop.replaced_by), name,
             a.state.loops_text(a.func, a.stage));
  if (loop.binding != ir::Binding::Serial)
    a.refuse(fmt::format("the loop '{}' is {}", name, ir::to_string(loop.binding)), name, "a serial loop");
  if (a.state.out.of(a.func).copy != Copy::Tma || a.state.out.graph.is_output(a.func))
    a.refuse(fmt::format("'{}' is not copied to shared memory in boxes", func), name,
             "copy(tma) on a Func that is no output");
  if (!a.state.out.role_of(a.func))
    a.refuse(
        fmt::format("'{}' is copied by no role, and rings between roles tell the blocks of each other", func),
        name, fmt::format("a role for '{}'", func));
}

DirectiveSpec multicast_spec() {
  return {
      .name = "multicast",
      .addresses = Addresses::Stage,
      .doc =
          "Of what all blocks of a cluster copy alike each copies a part and sends it to all "
          "(`.multicast::cluster`): the iterations of a loop around the boxes are dealt out to the blocks, "
          "which reads memory once a cluster instead of once a block. The Func is copied by a role of its "
          "own, whose ring tells the blocks that a slot is free in all of them.",
      .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "dealt out, around the boxes"}},
      .refused = {"the target is no GPU, or has no clusters (below sm_90)",
                  "the Func has a multicast already",
                  "the Func is no copy(tma) to shared memory, or is copied by no role",
                  "the loop is not serial, is gone, or is part of a box",
                  "the loop's iterations are no constant number that the blocks of the cluster divide",
                  "blocks of the cluster need different parts, or leave some out",
                  "the boxes do not fill what is stored"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
