// Schedules of resize.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// Every stage at root, serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  for (const char* stage : {"weight_x", "weight_y", "total_x", "total_y", "rows", "columns"})
    s[stage].compute_root();
  s["out"].compute_root().serial("c");
  return s;
}

// Rows of the result in parallel strips. First the image is resized along x, in vectors of the result's
// points; then a row of the result at a time is added up of its rows, in vectors again.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob strip = s.knob("STRIP", 16), vector = s.knob("VECTOR", 16);
  for (const char* stage : {"weight_x", "weight_y", "total_x", "total_y"}) s[stage].compute_root();
  s["weight_x"].reorder_storage("i", "k").vectorize("i", vector);
  s["rows"].compute_root().split("y", "yo", "yi", strip).vectorize("x", vector).parallel("c").parallel("yo");
  s["rows"]
      .update()
      .split("y", "yo", "yi", strip)
      .reorder("taps_x", "x", "yi", "yo", "c")
      .vectorize("x", vector)
      .parallel("c")
      .parallel("yo");
  s["out"]
      .compute_root()
      .split("y", "yo", "yi", strip)
      .reorder("x", "yi", "yo", "c")
      .vectorize("x", vector)
      .parallel("c")
      .parallel("yo");
  s["columns"].compute_at("out", "yi").vectorize("x", vector);
  s["columns"].update().reorder("x", "taps_y").vectorize("x", vector);
  return s;
}

CALOTYPE_SCHEDULES(resize)
    .schedule("naive", Target::Kind::Host, "every stage at root, the output serial", naive)
    .schedule("host", Target::Kind::Host, "strips of rows in parallel, both directions vectorised along x",
              host);

}  // namespace
