// align_storage: strides that are multiples.
#include "schedule/dims.h"

namespace calotype {

Stage& Stage::align_storage(const LoopName& dim, Factor multiple) {
  return record("align_storage", {{"dim", dim.name}, {"multiple", multiple}});
}

namespace schedule {

static void apply(Application& a) {
  StorageSchedule& memory = own_strides(a);
  set_dim_number(a, memory.multiples, a.integer("multiple"));
  memory.origin = a.origin();
}

DirectiveSpec align_storage_spec() {
  return {.name = "align_storage",
          .addresses = Addresses::Func,
          .doc =
              "Allocates a multiple of `multiple` elements along a coordinate, so that the strides of those "
              "outside it in memory are multiples as well.",
          .args = {dim_argument(), {.name = "multiple", .kind = ArgKind::Integer, .doc = "elements"}},
          .refused = {"the Func is an output", "the coordinate has one already", "it has a layout",
                      "the Func is held in registers that are dealt out to the threads of a block"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
