// raster: the order of a grid's tiles.
#include <fmt/format.h>

#include "schedule/gpu.h"
#include "schedule/spelling.h"

namespace calotype {

Stage& Stage::raster(const Grouped& order) {
  return record("raster", {{"order", "grouped"}, {"by", order.by}});
}

namespace schedule {

static void apply(Application& a) {
  StageSchedule& loops = a.loops();
  if (!a.state.out.target.is_gpu())
    a.refuse(fmt::format("the target {} has no blocks", a.state.out.target.str()), a.state.out.target.str(),
             "the targets cuda and cuda-interpreter");
  if (!loops.raster_origin.empty())
    a.refuse(fmt::format("the tiles have their order already, by {}", loops.raster_origin), a.name("order"),
             "one raster a stage");
  loops.raster_strip = a.integer("by");
  loops.raster_origin = a.origin();
}

static void check(Application& a) { require_blocks(a, 2); }

static std::string in_cpp(const Directive& d) {
  const std::vector<std::string> args = cpp_arguments(*find_directive("raster"), d);
  return fmt::format("{}.raster(Grouped{{{}}});", cpp_stage(d.stage), args.back());
}

DirectiveSpec raster_spec() {
  return {
      .name = "raster",
      .addresses = Addresses::Stage,
      .doc =
          "Chooses the order in which the tiles of a grid, the iterations of the block loops, start. "
          "Without it the first block loop moves fastest, then the second, then the third: row by row. "
          "`grouped` goes through strips of `by` tiles along the second loop, in each of which that loop "
          "moves fastest; then along the first, then to the next strip. Tiles that run at one time are then "
          "near each other in both directions, and share more of what they read in the caches. The last "
          "strip has what is left. A `persistent` grid takes its tiles in that order.",
      .args =
          {{.name = "order", .kind = ArgKind::Choice, .doc = "which", .choices = {{"grouped", "Grouped"}}},
           {.name = "by", .kind = ArgKind::Integer, .doc = "tiles of a strip", .high = 65535}},
      .refused = {"the target is no GPU", "fewer than two loops of the stage are bound to blocks",
                  "the stage runs in the block loops of another one: say it of that one",
                  "the stage has its raster already"},
      .apply = apply,
      .check = check,
      .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
