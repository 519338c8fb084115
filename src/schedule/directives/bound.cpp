// bound: a promise about the region of a Func that is computed.
#include <fmt/format.h>

#include "schedule/state.h"

namespace calotype {

Stage& Stage::bound(const LoopName& dim, Factor min, Factor extent) {
  return record("bound", {{"dim", dim.name}, {"min", min}, {"extent", extent}});
}

namespace schedule {

static void apply(Application& a) {
  const lang::FuncDef& f = a.func_def();
  std::vector<std::string> names;
  int dim = -1;
  for (int d = 0; d < f.rank(); d++) {
    names.push_back(f.args[d]->name);
    if (names.back() == a.name("dim")) dim = d;
  }
  if (dim < 0)
    a.refuse(fmt::format("'{}' has no coordinate '{}'", f.name, a.name("dim")), a.name("dim"),
             name_choices(a.name("dim"), names, "coordinates of " + f.name));
  std::vector<BoundPromise>& bounds = a.state.out.funcs[a.func.value].bounds;
  for (const BoundPromise& b : bounds)
    if (b.dim == dim)
      a.refuse(fmt::format("'{}' is bounded already, by {}", a.name("dim"), b.origin), a.name("dim"),
               "one bound a coordinate");
  bounds.push_back({dim, a.integer("min"), a.integer("extent"), a.origin()});
}

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
