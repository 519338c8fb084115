// tile: several loops split at once, all inner ones inside all outer ones.
#include "schedule/tiles.h"

namespace calotype {

Stage& Stage::tile(const std::vector<LoopName>& loops, const std::vector<LoopName>& outer,
                   const std::vector<LoopName>& inner, const std::vector<Factor>& factors, Tail tail) {
  return record("tile", schedule::tile_arguments(loops, outer, inner, factors, tail));
}

Stage& Stage::tile(const LoopName& x, const LoopName& y, const LoopName& xo, const LoopName& yo,
                   const LoopName& xi, const LoopName& yi, Factor fx, Factor fy, Tail tail) {
  return tile({x, y}, {xo, yo}, {xi, yi}, std::vector<Factor>{fx, fy}, tail);
}

namespace schedule {

static void apply(Application& a) { tile_loops(a, a.loop_list("loops"), a.names("into"), a.integers("by")); }

static std::string in_cpp(const Directive& d) { return tile_in_cpp(d, *find_directive("tile"), 2); }

DirectiveSpec tile_spec() {
  return {
      .name = "tile",
      .addresses = Addresses::Stage,
      .doc =
          "Splits each of several loops and puts all inner loops inside all outer ones, in the order in "
          "which the "
          "loops are given, innermost first. The outer loops stand where the outermost of the loops stood.",
      .args = {{.name = "loops",
                .kind = ArgKind::Loop,
                .doc = "the loops, innermost first",
                .list = true,
                .most = 4},
               {.name = "into",
                .kind = ArgKind::NewLoop,
                .doc = "names of the outer loops, then of the inner ones",
                .list = true,
                .least = 2},
               {.name = "by",
                .kind = ArgKind::Integer,
                .doc = "iterations of each inner loop",
                .list = true,
                .most = 4},
               tail_argument()},
      .reorders = "if reduction loops of an associative update change places",
      .refused = {"the numbers of loops, names and factors do not fit", "what split refuses",
                  "what reorder refuses"},
      .apply = apply,
      .cpp = in_cpp};
}

}  // namespace schedule
}  // namespace calotype
