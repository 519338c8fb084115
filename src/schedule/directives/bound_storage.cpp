// bound_storage: a constant for how much is allocated along a coordinate.
#include "schedule/dims.h"

namespace calotype {

Stage& Stage::bound_storage(const LoopName& dim, Factor extent) {
  return record("bound_storage", {{"dim", dim.name}, {"extent", extent}});
}

namespace schedule {

static void apply(Application& a) {
  StorageSchedule& memory = own_memory(a);
  set_dim_number(a, memory.extents, a.integer("extent"));
}

DirectiveSpec bound_storage_spec() {
  return {.name = "bound_storage",
          .addresses = Addresses::Func,
          .doc =
              "Allocates `extent` elements along a coordinate, whatever is known of the region: memory that "
              "must be of constant size (stack, shared, registers) becomes possible where sizes are free. "
              "That the region fits is proved or, where it follows from the sizes of a call, checked then.",
          .args = {dim_argument(), {.name = "extent", .kind = ArgKind::Integer, .doc = "elements"}},
          .refused = {"the Func is an output", "the coordinate has one already",
                      "the region depends on loops around it and is not proved to fit",
                      "a ring along the coordinate is larger"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
