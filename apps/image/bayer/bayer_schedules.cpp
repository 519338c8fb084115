// Schedules of bayer.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// The curve and the gains in tables, then the mosaic, serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["light"].compute_root();
  s["gain"].compute_root();
  s["raw"].compute_root().serial("y");
  return s;
}

// Pairs of points of two rows, whose colours are then known as the code is made.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob strip = s.knob("STRIP", 16), vector = s.knob("VECTOR", 16);
  s["light"].compute_root().bound("i", 0, 256).vectorize("i", 8);
  s["gain"].compute_root();
  s["raw"]
      .compute_root()
      .split("y", "yo", "yi", strip)
      .split("yi", "yh", "yp", 2)
      .split("x", "xh", "xp", 2)
      .reorder("xp", "xh", "yp", "yh", "yo")
      .unroll("xp")
      .vectorize("xh", vector)
      .unroll("yp")
      .parallel("yo");
  return s;
}

CALOTYPE_SCHEDULES(bayer)
    .schedule("naive", Target::Kind::Host, "tables, then every point, the output serial", naive)
    .schedule("host", Target::Kind::Host, "rows in parallel, pairs of points vectorised", host);

}  // namespace
