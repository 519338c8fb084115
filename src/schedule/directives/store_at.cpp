// store_at: memory at a loop further out than the one where the Func is computed.
#include "schedule/places.h"

namespace calotype {

Stage& Stage::store_at(const FuncName& consumer, const LoopName& loop) {
  return record("store_at", {{"of", consumer.name}, {"loop", loop.name}});
}
Stage& Stage::store_at(const Stage& consumer, const LoopName& loop) {
  return record("store_at", {{"of", consumer.name()}, {"loop", loop.name}});
}

namespace schedule {

static void apply(Application& a) {
  claim_store(a);
  a.state.out.funcs[a.func.value].store.kind = Place::Kind::At;
  refer_to_loop(a, &FuncSchedule::store);
}

DirectiveSpec store_at_spec() {
  return {
      .name = "store_at",
      .addresses = Addresses::Func,
      .doc =
          "Allocates the Func's memory at a loop outside the one where it is computed, so that later "
          "iterations "
          "of the loops between find what earlier ones have computed.",
      .args = {{.name = "of", .kind = ArgKind::Stage, .doc = "the stage that has the loop"},
               {.name = "loop",
                .kind = ArgKind::FarLoop,
                .doc = "a loop around the one where it is computed"}},
      .refused =
          {"the Func is not computed at a loop", "the loop is not around the one where it is computed",
           "a loop between storage and computation is parallel, vectorised or bound to blocks or threads"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
