// hoist_storage_root: memory allocated outside every loop, used inside one.
#include "schedule/dims.h"
#include "schedule/places.h"

namespace calotype {

Stage& Stage::hoist_storage_root() { return record("hoist_storage_root", {}); }

namespace schedule {

static void apply(Application& a) {
  own_memory(a);
  claim_hoist(a, Place::Kind::Root);
}

DirectiveSpec hoist_storage_root_spec() {
  return {.name = "hoist_storage_root",
          .addresses = Addresses::Func,
          .doc = "Allocates the Func's memory outside every loop; the rest is as for `hoist_storage`.",
          .args = {},
          .refused = {"the Func is an output, or not computed at a loop", "the memory is hoisted already",
                      "a loop around it is parallel, vectorised or bound to blocks or threads",
                      "the extent of the memory has no bound outside the loops between"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
