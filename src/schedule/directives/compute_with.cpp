// compute_with: stages of different Funcs in one nest of loops.
#include "schedule/state.h"

namespace calotype {

Stage& Stage::compute_with(const FuncName& other, const LoopName& loop) {
  return record("compute_with", {{"of", other.name}, {"loop", loop.name}});
}
Stage& Stage::compute_with(const Stage& other, const LoopName& loop) {
  return record("compute_with", {{"of", other.name()}, {"loop", loop.name}});
}

namespace schedule {

static void apply(Application& a) {
  a.state.shared_references.push_back({a.func, a.stage, a.name("of"), a.name("loop"), a.index});
}

DirectiveSpec compute_with_spec() {
  return {
      .name = "compute_with",
      .addresses = Addresses::Stage,
      .doc =
          "Runs the stage in the loops of a stage of another Func, down to the loop named: the outermost "
          "loops of both are one, the next ones are one, and so on to that loop. In each iteration the other "
          "stage's body comes first, with the loops that it has inside, then this one's; further stages "
          "follow in the order of the directives. Both have the same value of the loop: the coordinate "
          "where no directive has split or fused it, else the number of the iteration from 0. A shared loop "
          "goes from the least first value to the largest last one, and a stage that covers less is skipped "
          "outside its own. Stages that come before in either Func run before the nest, later ones after it. "
          "A stage may read another's value if it is complete: by an earlier iteration, or by the same one "
          "and a body that comes before; if the loop is parallel, vectorised or bound to blocks or threads, "
          "by the same one. What is computed at a shared loop, named by either stage, serves both. Scans "
          "over a loop that they share, the second with the first one's value of the same iteration, hold "
          "their last values alone where fold_storage or store_in(Register) asks for it.",
      .args = {{.name = "of", .kind = ArgKind::Stage, .doc = "the other stage, or its Func"},
               {.name = "loop", .kind = ArgKind::FarLoop, .doc = "the innermost loop that they share"}},
      .refused = {"the stages are of one Func, or the stage shares loops already",
                  "the Funcs are not computed at one place: both at root, or both at one loop",
                  "the stage has fewer loops than are to be shared",
                  "two loops that would be one are not bound alike",
                  "a loop bound to blocks would not be shared",
                  "partition speaks of a loop of this stage: say it of the other's",
                  "a stage reads what a later iteration, or a later body of the same one, computes",
                  "some loops over threads are shared and others are not, and one stage reads what threads "
                  "of the other compute",
                  "a stage that has to run between stands outside the nest"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
