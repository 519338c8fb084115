// bound: a promise about the region of a Func that is computed.
#include "schedule/dims.h"

namespace calotype {

Stage& Stage::bound(const LoopName& dim, Factor min, Factor extent) {
  return record("bound", {{"dim", dim.name}, {"min", min}, {"extent", extent}});
}

namespace schedule {

static void apply(Application& a) { promise_bound(a, a.integer("min")); }

DirectiveSpec bound_spec() {
  constexpr std::int64_t far = std::int64_t{1} << 48;
  return {
      .name = "bound",
      .addresses = Addresses::Func,
      .doc =
          "Promises that a coordinate covers exactly [min, min + extent). The extent is then a constant, so "
          "that "
          "the loop may be unrolled, vectorised or bound to threads as it is. A call that breaks the promise "
          "is "
          "an error.",
      .args =
          {{.name = "dim", .kind = ArgKind::Dim, .doc = "a coordinate of the Func"},
           {.name = "min", .kind = ArgKind::Integer, .doc = "the first coordinate", .low = -far, .high = far},
           {.name = "extent", .kind = ArgKind::Integer, .doc = "how many there are", .high = far}},
      .refused = {"the coordinate is bounded already"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
