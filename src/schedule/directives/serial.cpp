// serial: a loop stays an ordinary loop, and says so.
#include "schedule/loops.h"

namespace calotype {

Stage& Stage::serial(const LoopName& loop) { return record("serial", {{"loop", loop.name}}); }

namespace schedule {

// A stage whose loops are named gets no default loops, so naming one is what the directive does.
static void apply(Application& a) { bind_loop(a, a.loop("loop"), ir::Binding::Serial); }

DirectiveSpec serial_spec() {
  return {.name = "serial",
          .addresses = Addresses::Stage,
          .doc =
              "Runs the iterations one after another. Loops do so in any case; as every loop directive it "
              "keeps the "
              "default loops away from the stage.",
          .args = {{.name = "loop", .kind = ArgKind::Loop, .doc = "the loop"}},
          .refused = {"the loop is bound already"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
