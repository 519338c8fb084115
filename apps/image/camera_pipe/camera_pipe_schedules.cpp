// Schedules of camera_pipe.
#include <calotype/operator.h>

namespace {

using namespace calotype;

// Every stage at root, serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  for (const char* stage : {"samples", "green_r", "green_b", "demosaiced", "toned", "matrix", "curve"})
    s[stage].compute_root();
  for (const char* stage : {"plane", "red_minus", "blue_minus", "quarters", "corrected"})
    s[stage].compute_inline();
  s["soft_y"].compute_inline();
  s["soft"].compute_inline();
  s["photo"].compute_root().serial("c");
  return s;
}

// Strips of rows in parallel, two rows at a time: what a stage makes of them is kept while the rows around
// need it. Colours are filled in for the four places of the mosaic one after the other, whose neighbours are
// then known as the code is made.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob strip = s.knob("STRIP", 64), vector = s.knob("VECTOR", 32), bytes = s.knob("BYTES", 64);
  for (const char* stage : {"red_minus", "blue_minus", "demosaiced", "corrected", "soft"})
    s[stage].compute_inline();
  s["matrix"].compute_root();
  s["curve"].compute_root().vectorize("i", 8);
  s["photo"]
      .compute_root()
      .split("y", "yo", "yi", strip)
      .split("yi", "yh", "yp", 2)
      .reorder("x", "yp", "c", "yh", "yo")
      .vectorize("x", bytes)
      .parallel("yo");
  s["soft_y"].compute_at("photo", "yh").vectorize("x", bytes);
  s["toned"]
      .store_at("photo", "yo")
      .compute_at("photo", "yh")
      .align_bounds("x", 2)
      .align_bounds("y", 2)
      .split("x", "xh", "xp", 2)
      .split("y", "yq", "yr", 2)
      .reorder("xp", "xh", "yr", "c", "yq")
      .unroll("xp")
      .unroll("yr")
      .vectorize("xh", vector);
  s["quarters"]
      .compute_at("toned", "yq")
      .reorder("p", "c", "x", "y")
      .bound("p", 0, 4)
      .bound("c", 0, 3)
      .unroll("p")
      .unroll("c")
      .vectorize("x", vector);
  for (const char* stage : {"green_r", "green_b", "samples", "plane"})
    s[stage].store_at("photo", "yo").compute_at("photo", "yh").vectorize("x", vector);
  // The samples are taken apart once, with their edges.
  for (const char* stage : {"samples", "plane"})
    s[stage].bound("p", 0, 4).reorder("x.v", "x.o", "p", "y").unroll("p");
  return s;
}

CALOTYPE_SCHEDULES(camera_pipe)
    .schedule("naive", Target::Kind::Host, "every stage at root, the output serial", naive)
    .schedule("host", Target::Kind::Host,
              "strips of rows, two at a time, a place of the mosaic after the other", host);

}  // namespace
