// rename: another name for a loop.
#include "schedule/loops.h"

namespace calotype {

Stage& Stage::rename(const LoopName& loop, const LoopName& name) {
  return record("rename", {{"loop", loop.name}, {"into", name.name}});
}

namespace schedule {

static void apply(Application& a) { rename_loop(a, a.loop("loop"), a.name("into")); }

DirectiveSpec rename_spec() {
  return {.name = "rename",
          .addresses = Addresses::Stage,
          .doc = "Gives a loop another name, by which later directives and other stages refer to it.",
          .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"},
                   {.name = "into", .kind = ArgKind::NewLoop, .doc = "its new name"}},
          .refused = {"the new name is one that the stage has or had"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
