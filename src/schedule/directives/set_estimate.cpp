// set_estimate: what a tuner may assume of a coordinate.
#include <fmt/format.h>

#include "schedule/dims.h"

namespace calotype {

Stage& Stage::set_estimate(const LoopName& dim, Factor min, Factor extent) {
  return record("set_estimate", {{"dim", dim.name}, {"min", min}, {"extent", extent}});
}

namespace schedule {

static void apply(Application& a) {
  const int dim = find_dim(a);
  std::vector<Estimate>& estimates = a.state.out.funcs[a.func.value].estimates;
  for (const Estimate& e : estimates)
    if (e.dim == dim)
      a.refuse(fmt::format("'{}' is estimated already, by {}", a.name("dim"), e.origin), a.name("dim"),
               "one estimate a coordinate");
  estimates.push_back({dim, a.integer("min"), a.integer("extent"), a.origin()});
}

DirectiveSpec set_estimate_spec() {
  constexpr std::int64_t far = std::int64_t{1} << 48;
  return {
      .name = "set_estimate",
      .addresses = Addresses::Func,
      .doc = "Says what a tuner may assume of the region of a Func. It changes no code and is not checked.",
      .args =
          {dim_argument(),
           {.name = "min", .kind = ArgKind::Integer, .doc = "the first coordinate", .low = -far, .high = far},
           {.name = "extent", .kind = ArgKind::Integer, .doc = "how many there are", .high = far}},
      .inert = true,
      .refused = {"the coordinate is estimated already"},
      .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
