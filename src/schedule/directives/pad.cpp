// pad: elements in memory that nothing uses.
#include "schedule/dims.h"

namespace calotype {

Stage& Stage::pad(const LoopName& dim, Factor elements) {
  return record("pad", {{"dim", dim.name}, {"elements", elements}});
}

namespace schedule {

static void apply(Application& a) {
  StorageSchedule& memory = own_strides(a);
  set_dim_number(a, memory.pads, a.integer("elements"));
  memory.origin = a.origin();
}

DirectiveSpec pad_spec() {
  return {.name = "pad",
          .addresses = Addresses::Func,
          .doc =
              "Allocates `elements` more along a coordinate than are used, so that steps along those outside "
              "it do not fall into the same banks of shared memory, or the same sets of a cache. "
              "`align_storage` rounds up what results.",
          .args = {dim_argument(), {.name = "elements", .kind = ArgKind::Integer, .doc = "how many"}},
          .refused = {"the Func is an output", "the coordinate has one already", "it has a layout",
                      "the Func is held in registers that are dealt out to the threads of a block"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
