// store_root: memory for the whole Func, outside every loop.
#include "schedule/places.h"

namespace calotype {

Stage& Stage::store_root() { return record("store_root", {}); }

namespace schedule {

static void apply(Application& a) {
  claim_store(a);
  a.state.out.funcs[a.func.value].store.kind = Place::Kind::Root;
}

DirectiveSpec store_root_spec() {
  return {
      .name = "store_root",
      .addresses = Addresses::Func,
      .doc =
          "Keeps the values of a Func that is computed at a loop in memory outside every loop, so that later "
          "iterations find what earlier ones have computed.",
      .args = {},
      .refused =
          {"the Func is not computed at a loop",
           "a loop between storage and computation is parallel, vectorised or bound to blocks or threads"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
