// hoist_storage: memory allocated at a loop further out than it is used.
#include "schedule/dims.h"
#include "schedule/places.h"

namespace calotype {

Stage& Stage::hoist_storage(const FuncName& consumer, const LoopName& loop) {
  return record("hoist_storage", {{"of", consumer.name}, {"loop", loop.name}});
}
Stage& Stage::hoist_storage(const Stage& consumer, const LoopName& loop) {
  return record("hoist_storage", {{"of", consumer.name()}, {"loop", loop.name}});
}

namespace schedule {

static void apply(Application& a) {
  own_memory(a);
  claim_hoist(a, Place::Kind::At);
  refer_to_loop(a, &FuncSchedule::hoist);
}

DirectiveSpec hoist_storage_spec() {
  return {
      .name = "hoist_storage",
      .addresses = Addresses::Func,
      .doc =
          "Allocates the Func's memory at a loop outside the one where it is stored, once for all "
          "iterations between, large enough for any. Unlike `store_at` nothing is kept from one iteration "
          "to the next.",
      .args = {{.name = "of", .kind = ArgKind::Stage, .doc = "the stage that has the loop"},
               {.name = "loop", .kind = ArgKind::FarLoop, .doc = "a loop around the one where it is stored"}},
      .refused = {"the Func is an output, or not computed at a loop", "the memory is hoisted already",
                  "the loop is not around the one where it is stored",
                  "a loop between is parallel, vectorised or bound to blocks or threads",
                  "the extent of the memory has no bound outside the loops between"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
