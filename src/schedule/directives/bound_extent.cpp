// bound_extent: a promise about how many coordinates of a Func are computed.
#include "schedule/dims.h"

namespace calotype {

Stage& Stage::bound_extent(const LoopName& dim, Factor extent) {
  return record("bound_extent", {{"dim", dim.name}, {"extent", extent}});
}

namespace schedule {

static void apply(Application& a) { promise_bound(a, std::nullopt); }

DirectiveSpec bound_extent_spec() {
  return {
      .name = "bound_extent",
      .addresses = Addresses::Func,
      .doc =
          "Promises that a coordinate covers exactly `extent` values, from wherever it starts. The extent "
          "is then a constant; the rest is as for `bound`.",
      .args = {dim_argument(),
               {.name = "extent",
                .kind = ArgKind::Integer,
                .doc = "how many there are",
                .high = std::int64_t{1} << 48}},
      .refused = {"the coordinate is bounded already"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
