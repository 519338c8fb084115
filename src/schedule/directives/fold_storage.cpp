// fold_storage: a ring buffer of a size that the schedule chooses.
#include <fmt/format.h>

#include "schedule/dims.h"
#include "schedule/functions.h"
#include "schedule/scan.h"

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
  const std::optional<Scan> scan = scan_form(a.func_def());
  if (scan && a.func_def().args[static_cast<std::size_t>(scan->dim)]->name == a.name("dim")) return;
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
          "folds by itself, to a power of two, where it can. A scan, whose one update moves the coordinate "
          "by "
          "1 in each iteration of its reduction loop and reads its own values some iterations back, as "
          "m(k) = max(m(k - 1), x(k)), may be folded wherever it is stored: what reads it is in the same "
          "loop "
          "(`compute_with`) and reads the value of the iteration, or of the last ones before, or comes after "
          "the loop and reads the last ones. In registers they are then slots that move up, with indices "
          "that "
          "are constants, as in local memory and on a stack if they are at most 256 elements in all; "
          "elsewhere "
          "a ring. store_in(Register), Local or Stack folds a scan without this directive, to as few as are "
          "read. Of its first definition only what the update starts from is computed.",
      .args = {dim_argument(), {.name = "extent", .kind = ArgKind::Integer, .doc = "elements of the ring"}},
      .refused = {"the Func is an output", "the coordinate has one already",
                  "a function computes the Func, or reads it",
                  "the Func is stored where it is computed, and is no scan along the coordinate",
                  "what is alive at once is not proved to fit",
                  "values of earlier iterations are kept along another coordinate, so that all of this one "
                  "stays alive",
                  "the Func is held in registers that are dealt out to the threads of a block"},
      .apply = apply,
      .check = check};
}

}  // namespace schedule
}  // namespace calotype
