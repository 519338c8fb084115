// persistent: a grid of as many blocks as run at one time, each of which takes one tile after the other.
#include <fmt/format.h>

#include "schedule/gpu.h"

namespace calotype {

Stage& Stage::persistent() { return record("persistent", {}); }

namespace schedule {

static void apply(Application& a) {
  std::string& origin = a.loops().persistent_origin;
  if (!a.state.out.target.is_gpu())
    a.refuse(fmt::format("the target {} has no blocks", a.state.out.target.str()), a.state.out.target.str(),
             "the targets cuda and cuda-interpreter");
  if (!origin.empty())
    a.refuse(fmt::format("the blocks take several tiles already, by {}", origin), "", "once");
  origin = a.origin();
}

static void check(Application& a) { require_blocks(a, 1); }

DirectiveSpec persistent_spec() {
  return {
      .name = "persistent",
      .addresses = Addresses::Stage,
      .doc =
          "Makes the grid no larger than what the device runs at one time (its multiprocessors times the "
          "blocks that fit on each, asked of the driver at the call), and lets each block take one tile "
          "after the other: an iteration of the block loops is a tile. Block i of n takes the tiles i, i + n "
          "and on, in the order of `raster`. What is computed at a block loop is computed once for each "
          "tile. The interpreter has 3 blocks.",
      .args = {},
      .refused = {"the target is no GPU", "no loop of the stage is bound to blocks",
                  "the stage runs in the block loops of another one: say it of that one",
                  "the stage is persistent already"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
