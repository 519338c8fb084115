// ring_buffer: several copies of a Func's memory, used in turn.
#include <fmt/format.h>

#include "schedule/dims.h"

namespace calotype {

Stage& Stage::ring_buffer(Factor copies) { return record("ring_buffer", {{"copies", copies}}); }

namespace schedule {

static void apply(Application& a) {
  StorageSchedule& memory = own_memory(a);
  if (!memory.copies_origin.empty())
    a.refuse(fmt::format("'{}' has its copies already, by {}", a.func_def().name, memory.copies_origin),
             std::to_string(a.integer("copies")), "one ring_buffer a Func");
  memory.copies = a.integer("copies");
  memory.copies_origin = memory.origin = a.origin();
}

static void check(Application& a) {
  if (a.state.funcs[a.func.value].hoist_directive < 0)
    a.refuse(
        fmt::format("the memory of '{}' is allocated where it is stored, so there is nothing to take turns",
                    a.func_def().name),
        std::to_string(a.integer("copies")), "hoist_storage at a loop further out, or hoist_storage_root");
}

DirectiveSpec ring_buffer_spec() {
  return {.name = "ring_buffer",
          .addresses = Addresses::Func,
          .doc =
              "Allocates the Func's memory several times over and takes the copies in turn, one for each "
              "iteration of the loops between where it is allocated and where it is stored. With "
              "`store_at` further out than `compute_at` a copy holds what its iterations keep.",
          .args = {{.name = "copies", .kind = ArgKind::Integer, .doc = "how many", .low = 2, .high = 1024}},
          .refused = {"the Func is an output", "it has a ring_buffer already",
                      "the memory is not allocated further out than it is stored, by hoist_storage",
                      "the Func is held in registers that are dealt out to the threads of a block"},
          .apply = apply,
          .check = check};
}

}  // namespace schedule
}  // namespace calotype
