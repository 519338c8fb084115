// partition: whether a loop is cut into a prologue, a steady part and an epilogue.
#include <fmt/format.h>

#include "schedule/loops.h"

namespace calotype {

Stage& Stage::partition(const LoopName& loop, Partition how) {
  return record("partition", {{"loop", loop.name},
                              {"how", schedule::partition_options()[static_cast<std::size_t>(how)].text}});
}

namespace schedule {

static void apply(Application& a) {
  Loop& loop = a.state.out.loops[a.loop("loop").value];
  if (!loop.partition_origin.empty())
    a.refuse(fmt::format("'{}' has its partition already, by {}", loop.name, loop.partition_origin),
             loop.name, "one partition a loop");
  loop.partition = a.partition("how");
  loop.partition_origin = a.origin();
}

// Later directives may bind or consume the loop.
static void check(Application& a) {
  for (LoopId id : a.state.stage(a.func, a.stage).ever) {
    const Loop& loop = a.state.loop(id);
    if (loop.partition_origin != a.origin()) continue;
    if (!loop.replaced_by.empty())
      a.refuse(fmt::format("the loop '{}' is gone: {} stands in its place", loop.name, loop.replaced_by),
               loop.name, "partition after that, of the loops that are left");
    if (loop.binding != ir::Binding::Serial && loop.binding != ir::Binding::Parallel &&
        loop.binding != ir::Binding::GpuBlock)
      a.refuse(fmt::format("the loop '{}' is {}, and such a loop is never cut", loop.name,
                           ir::to_string(loop.binding)),
               loop.name, "serial and parallel loops, and those bound to blocks");
  }
}

DirectiveSpec partition_spec() {
  return {
      .name = "partition",
      .addresses = Addresses::Stage,
      .doc =
          "Says whether a loop is cut into a prologue, a steady part in which nothing is clamped or tested "
          "for its end, and an epilogue. `auto`: where it is the innermost loop that decides something, "
          "or shapes a vector or unrolled loop inside; `never`: it stays whole, and a loop around it may "
          "be cut in its stead; `always`: also where a loop inside could decide the same. Of a loop bound "
          "to blocks `always` makes two bodies, one for the blocks whose place decides clamps and tests "
          "that speak of it, without those.",
      .args = {{.name = "loop",
                .kind = ArgKind::Loop,
                .doc = "a loop that is serial, parallel or bound to blocks"},
               {.name = "how", .kind = ArgKind::Choice, .doc = "which", .choices = partition_options()}},
      .refused = {"the loop has its partition already", "a later directive consumes the loop",
                  "the loop is vectorised, unrolled or bound to threads",
                  "`always`, and no clamp or test in the loop is decided by where it stands, or it holds "
                  "barriers or memory of a block"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
