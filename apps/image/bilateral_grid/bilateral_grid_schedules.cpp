// Schedules of bilateral_grid.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// Every stage at root, serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  s["height"].compute_inline();
  for (const char* stage : {"grid", "blur_z", "blur_x", "blur_y"}) s[stage].compute_root();
  s["row"].compute_inline();
  s["out"].compute_root().serial("c");
  return s;
}

// Rows of cells in parallel: a row of the grid is filled and blurred along z and x at once; the result in
// strips of one row of cells, each row of samples with the grid interpolated to it, in which values lie side
// by side.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob vector = s.knob("VECTOR", 16), width = s.knob("WIDTH", 1024);
  s["edged"].compute_inline();
  s["height"].compute_inline();
  s["blur_x"].compute_root().reorder("x", "z", "y", "c").vectorize("x", vector).parallel("c").parallel("y");
  s["blur_z"].compute_at("blur_x", "y").vectorize("x", vector);
  s["grid"].compute_at("blur_x", "y").vectorize("x", vector);
  s["grid"].update().reorder("r.x", "r.y", "x", "y", "c");
  s["blur_y"].compute_root().reorder("x", "z", "y", "c").vectorize("x", vector).parallel("c").parallel("y");
  s["out"]
      .compute_root()
      .split("y", "yo", "yi", 8)
      .split("x", "xo", "xi", width)
      .reorder("xi", "yi", "xo", "yo", "c")
      .vectorize("xi", vector)
      .parallel("c")
      .parallel("yo");
  s["row"].compute_at("out", "yi").reorder_storage("z", "x").vectorize("x", vector);
  return s;
}

CALOTYPE_SCHEDULES(bilateral_grid)
    .schedule("naive", Target::Kind::Host, "every stage at root, the output serial", naive)
    .schedule("host", Target::Kind::Host, "rows of cells in parallel, the grid interpolated for each row",
              host);

}  // namespace
