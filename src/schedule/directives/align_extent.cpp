// align_extent: the number of coordinates that are computed is a multiple.
#include "schedule/dims.h"

namespace calotype {

Stage& Stage::align_extent(const LoopName& dim, Factor modulus) {
  return record("align_extent", {{"dim", dim.name}, {"modulus", modulus}});
}

namespace schedule {

static void apply(Application& a) { align_region(a, a.integer("modulus"), std::nullopt); }

DirectiveSpec align_extent_spec() {
  return {
      .name = "align_extent",
      .addresses = Addresses::Func,
      .doc =
          "Enlarges the region that is computed at its end so that its extent is a multiple of `modulus`; "
          "the rest is as for `align_bounds`.",
      .args = {dim_argument(),
               {.name = "modulus", .kind = ArgKind::Integer, .doc = "what the extent is a multiple of"}},
      .refused = {"the coordinate is aligned already", "a bound of the coordinate is no multiple",
                  "the Func is an output whose extent is not proved to be a multiple"},
      .apply = apply,
      .check = check_alignment};
}

}  // namespace schedule
}  // namespace calotype
