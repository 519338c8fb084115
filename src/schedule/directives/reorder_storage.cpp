// reorder_storage: the order of the dimensions in memory.
#include <fmt/format.h>

#include <algorithm>

#include "schedule/dims.h"

namespace calotype {

Stage& Stage::reorder_storage(const std::vector<LoopName>& dims) {
  return record("reorder_storage", {{"dims", schedule::names_of(dims)}});
}

namespace schedule {

static void apply(Application& a) {
  StorageSchedule& memory = own_strides(a);
  if (!memory.order.empty())
    a.refuse(fmt::format("the memory of '{}' has its order already", a.func_def().name), a.func_def().name,
             "one reorder_storage a Func");
  const std::vector<int> wanted = find_dims(a, "dims");
  for (int d = 0; d < a.func_def().rank(); d++) memory.order.push_back(d);
  std::size_t next = 0;
  for (int& place : memory.order)
    if (std::find(wanted.begin(), wanted.end(), place) != wanted.end()) place = wanted[next++];
  memory.origin = a.origin();
}

DirectiveSpec reorder_storage_spec() {
  return {
      .name = "reorder_storage",
      .addresses = Addresses::Func,
      .doc =
          "Puts the coordinates named, innermost first, into the places that they have among themselves in "
          "memory: the first has stride 1 if all are named. Without it memory has the order of the "
          "coordinates.",
      .args = {{.name = "dims",
                .kind = ArgKind::Dim,
                .doc = "the coordinates, innermost first",
                .list = true,
                .least = 2}},
      .refused = {"the Func is an output", "the memory has its order already", "it has a layout",
                  "the Func is held in registers that are dealt out to the threads of a block"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
