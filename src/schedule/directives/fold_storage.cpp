// fold_storage: a ring buffer of a size that the schedule chooses.
#include <fmt/format.h>

#include "schedule/dims.h"
#include "schedule/functions.h"

namespace calotype {

Stage& Stage::fold_storage(const LoopName& dim, Factor extent) {
  return record("fold_storage", {{"dim", dim.name}, {"extent", extent}});
}

namespace schedule {

static void apply(Application& a) {
  StorageSchedule& memory = own_memory(a);
  set_dim_number(a, memory.folds, a.integer("extent"));
  memory.origin = a.origin();
}

static void check(Application& a) {
  refuse_function(a, a.func, "no fold_storage: what a function is given lies in memory by strides");
  refuse_function_reading(a, a.func, "no fold_storage: what a function is given lies in memory by strides");
  if (a.state.funcs[a.func.value].store_directive < 0)
    a.refuse(
        fmt::format("'{}' is stored where it is computed, so there is nothing to fold", a.func_def().name),
        a.name("dim"), "store_at a loop further out, or store_root");
}

DirectiveSpec fold_storage_spec() {
  return {
      .name = "fold_storage",
      .addresses = Addresses::Func,
      .doc =
          "Keeps a Func that is stored outside the loop where it is computed in a ring of `extent` "
          "elements along a coordinate: coordinate c is element c modulo `extent`. Without it the compiler "
          "folds by itself, to a power of two, where it can.",
      .args = {dim_argument(), {.name = "extent", .kind = ArgKind::Integer, .doc = "elements of the ring"}},
      .refused = {"the Func is an output", "the coordinate has one already",
                  "a function computes the Func, or reads it", "the Func is stored where it is computed",
                  "what is alive at once is not proved to fit",
                  "values of earlier iterations are kept along another coordinate, so that all of this one "
                  "stays alive",
                  "the Func is held in registers that are dealt out to the threads of a block"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
