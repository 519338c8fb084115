// stream_stores: stores that pass the caches by.
#include <fmt/format.h>

#include "schedule/functions.h"
#include "schedule/gpu.h"

namespace calotype {

Stage& Stage::stream_stores() { return record("stream_stores", {}); }

namespace schedule {

static void apply(Application& a) {
  refuse_function(a, a.func, "a Func that an expression defines");
  StorageSchedule& memory = a.state.out.funcs[a.func.value].storage;
  if (memory.stream_stores)
    a.refuse(fmt::format("the stores of '{}' do so already", a.func_def().name), a.func_def().name,
             "one stream_stores a Func");
  memory.stream_stores = true;
}

// A later directive may move the Func.
static void check(Application& a) { require_global_memory(a, a.func); }

DirectiveSpec stream_stores_spec() {
  return {
      .name = "stream_stores",
      .addresses = Addresses::Func,
      .doc =
          "Stores to the Func's memory pass the caches by: for large results that nobody reads soon. On "
          "x86 those are vectors of 16 bytes or more at addresses that are multiples of their size, which "
          "is tested as the program runs; others go through the caches. Other threads see them when the "
          "parallel loop or the call ends. On a GPU those are vectors of 4, 8 or 16 bytes, whose lines are "
          "the first to leave the cache.",
      .args = {},
      .refused = {"a function computes the Func", "the Func has stream_stores already",
                  "on a GPU: the Func is computed inside a kernel and not in global memory"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
