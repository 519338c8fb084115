// fuse: two loops become one.
#include "schedule/loops.h"

namespace calotype {

using schedule::Value;

Stage& Stage::fuse(const LoopName& inner, const LoopName& outer, const LoopName& fused) {
  return record("fuse", {{"loops", Value::List{inner.name, outer.name}}, {"into", fused.name}});
}

namespace schedule {

static void apply(Application& a) {
  const std::vector<LoopId> loops = a.loop_list("loops");
  fuse_loops(a, loops[0], loops[1], a.name("into"));
}

DirectiveSpec fuse_spec() {
  return {.name = "fuse",
          .addresses = Addresses::Stage,
          .doc = "Makes one loop of two; it stands where the inner one stood.",
          .args = {{.name = "loops",
                    .kind = ArgKind::Loop,
                    .doc = "the inner and the outer loop",
                    .list = true,
                    .least = 2,
                    .most = 2},
                   {.name = "into", .kind = ArgKind::NewLoop, .doc = "the name of the new loop"}},
          .reorders = "if reduction loops of an associative update change places",
          .refused = {"one loop is a reduction loop and the other is not", "a loop is bound already",
                      "the new name is one that the stage has or had",
                      "reduction loops of an update that is not associative would change places"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
