// compute_root: the whole Func before its first consumer.
#include "schedule/places.h"

namespace calotype {

Stage& Stage::compute_root() { return record("compute_root", {}); }

namespace schedule {

static void apply(Application& a) { claim_compute(a, Place::Kind::Root); }

DirectiveSpec compute_root_spec() {
  return {.name = "compute_root",
          .addresses = Addresses::Func,
          .doc =
              "Computes all that is needed of the Func once, before its first consumer. On a GPU: a kernel "
              "of its "
              "own for each stage.",
          .args = {},
          .refused = {"the Func has a compute directive already"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
