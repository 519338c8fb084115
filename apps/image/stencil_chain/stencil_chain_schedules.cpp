// Schedules of stencil_chain.
#include <calotype/operator.h>

#include <string>

namespace {

using namespace calotype;

constexpr int kStencils = 32;

std::string stage(int i) { return "stage" + std::to_string(i); }

// Every stencil at root, the output serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  for (int i = 0; i < kStencils; ++i) s[stage(i)].compute_root();
  s[stage(kStencils)].compute_inline();
  s["out"].compute_root().serial("c");
  return s;
}

/// Tiles of the output in parallel, each row in vectors: the knob is their number of lanes.
Knob tile_output(Schedule& s) {
  const Knob width = s.knob("WIDTH", 512), height = s.knob("HEIGHT", 512), vector = s.knob("VECTOR", 32);
  s["out"]
      .compute_root()
      .split("y", "yo", "yi", height)
      .split("x", "xo", "xi", width)
      .reorder("xi", "yi", "xo", "yo", "c")
      .vectorize("xi", vector)
      .parallel("c")
      .parallel("yo");
  return vector;
}

// Tiles in parallel. Down a tile the stencils follow each other: each makes a row when the one after it needs
// it, and keeps the few that are read together. Only the tiles' margins are computed twice.
Schedule host(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  const Knob vector = tile_output(s);
  for (int i = 0; i < kStencils; ++i)
    s[stage(i)].store_at("out", "xo").compute_at("out", "yi").vectorize("x", vector);
  s[stage(kStencils)].compute_inline();
  return s;
}

// The same tiles, in which one stencil after the other is made whole.
Schedule tiles(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  const Knob vector = tile_output(s);
  for (int i = 0; i < kStencils; ++i) s[stage(i)].compute_at("out", "xo").vectorize("x", vector);
  s[stage(kStencils)].compute_inline();
  return s;
}

CALOTYPE_SCHEDULES(stencil_chain)
    .schedule("naive", Target::Kind::Host, "every stencil at root, the output serial", naive)
    .schedule("tiles", Target::Kind::Host, "tiles in parallel, one stencil after the other in each", tiles)
    .schedule("host", Target::Kind::Host, "tiles in parallel, a few rows of each stencil kept", host);

}  // namespace
