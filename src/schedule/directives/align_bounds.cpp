// align_bounds: the region that is computed starts and ends at multiples.
#include "schedule/dims.h"

namespace calotype {

Stage& Stage::align_bounds(const LoopName& dim, Factor modulus, Factor remainder) {
  std::vector<std::pair<std::string, schedule::Value>> args = {{"dim", dim.name}, {"modulus", modulus}};
  if (remainder.number != 0 || !remainder.knob.empty()) args.emplace_back("remainder", remainder);
  return record("align_bounds", std::move(args));
}

namespace schedule {

static void apply(Application& a) {
  align_region(a, a.integer("modulus"), a.has("remainder") ? a.integer("remainder") : 0);
}

DirectiveSpec align_bounds_spec() {
  constexpr std::int64_t far = std::int64_t{1} << 48;
  return {.name = "align_bounds",
          .addresses = Addresses::Func,
          .doc =
              "Enlarges the region that is computed so that the first coordinate is `remainder` modulo "
              "`modulus` and the extent a multiple of it: splits by a divisor of it then need no tail. What "
              "the Func reads grows with it; an input that does not hold it is an error at the call.",
          .args = {dim_argument(),
                   {.name = "modulus", .kind = ArgKind::Integer, .doc = "what the extent is a multiple of"},
                   {.name = "remainder",
                    .kind = ArgKind::Integer,
                    .doc = "where the first coordinate lies; 0 if left out",
                    .optional = true,
                    .low = -far,
                    .high = far}},
          .refused = {"the coordinate is aligned already", "a bound of the coordinate is no such region",
                      "the Func is an output whose region is not proved to be such"},
          .apply = apply,
          .check = check_alignment};
}

}  // namespace schedule
}  // namespace calotype
