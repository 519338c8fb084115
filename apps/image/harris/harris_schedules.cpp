// Schedules of harris.
#include <calotype/operator.h>

namespace {

using namespace calotype;

void inline_sums(Schedule& s) {
  for (const char* stage : {"edged", "xx", "xy", "yy"}) s[stage].compute_inline();
}

// Intensity and derivatives at root, serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  inline_sums(s);
  for (const char* stage : {"gray", "dx", "dy"}) s[stage].compute_root();
  s["corners"].compute_root().serial("y");
  return s;
}

// Strips of rows in parallel; intensity and derivatives of a row are made when it is first needed and kept
// for the three rows around it.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob strip = s.knob("STRIP", 32), vector = s.knob("VECTOR", 16);
  inline_sums(s);
  s["corners"].compute_root().split("y", "yo", "yi", strip).vectorize("x", vector).parallel("yo");
  for (const char* stage : {"gray", "dx", "dy"})
    s[stage].store_at("corners", "yo").compute_at("corners", "yi").vectorize("x", vector);
  return s;
}

// A tile a block, intensity and derivatives in shared memory.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  const Knob width = s.knob("WIDTH", 32), height = s.knob("HEIGHT", 8);
  inline_sums(s);
  s["corners"]
      .compute_root()
      .tile("x", "y", "xo", "yo", "xi", "yi", width, height)
      .gpu_blocks("xo", "yo")
      .gpu_threads("xi", "yi");
  for (const char* stage : {"gray", "dx", "dy"})
    s[stage].compute_at("corners", "xo").store_in(Memory::Shared).gpu_threads("x", "y");
  return s;
}

CALOTYPE_SCHEDULES(harris)
    .schedule("naive", Target::Kind::Host, "intensity and derivatives at root, the output serial", naive)
    .schedule("host", Target::Kind::Host, "strips of rows, derivatives slide down a strip", host)
    .schedule("gpu", Target::Kind::Cuda, "tiles with intensity and derivatives in shared memory", gpu);

}  // namespace
