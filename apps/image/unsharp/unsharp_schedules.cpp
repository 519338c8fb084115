// Schedules of unsharp: from the plainest to the one that is shipped.
#include <calotype/operator.h>

#include "../blocks_of_rows.h"

namespace {

using namespace calotype;

// Every stage at root, loops serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  s["gauss_x"].compute_root();
  s["gauss"].compute_root();
  s["sharp"].compute_root().serial("c");
  return s;
}

// The vertical blur goes into the last stage: one pass over memory less.
Schedule fused(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  s["gauss_x"].compute_root();
  s["gauss"].compute_inline();
  s["sharp"].compute_root().serial("c");
  return s;
}

// Strips of rows in parallel; the horizontal blur of a row is made when the row is first needed and kept for
// five.
Schedule strips(const OperatorTypes&) {
  Schedule s;
  const Knob rows = s.knob("ROWS", 64);
  s["edged"].compute_inline();
  s["gauss"].compute_inline();
  s["sharp"].compute_root().split("y", "yo", "yi", rows).reorder("x", "yi", "yo", "c").parallel("yo");
  s["gauss_x"].store_at("sharp", "yo").compute_at("sharp", "yi");
  return s;
}

// The strips, vectorised along x.
Schedule vectors(const OperatorTypes&) {
  Schedule s;
  const Knob rows = s.knob("ROWS", 64), vector = s.knob("VECTOR", 16);
  s["edged"].compute_inline();
  s["gauss"].compute_inline();
  s["sharp"]
      .compute_root()
      .split("y", "yo", "yi", rows)
      .reorder("x", "yi", "yo", "c")
      .vectorize("x", vector)
      .parallel("c")
      .parallel("yo");
  s["gauss_x"].store_at("sharp", "yo").compute_at("sharp", "yi").vectorize("x", vector);
  return s;
}

// Eight rows of a vector at a time, the horizontal blur of those and of four more beside them.
Schedule host(const OperatorTypes& types) {
  Schedule s;
  const bool photo = !types.all().is_float();
  s["gauss"].compute_inline();
  const Knob strip = s.knob("STRIP", 64), rows = s.knob("ROWS", 8),
             vector = s.knob("VECTOR", photo ? 32 : 16);
  apps::blocks_of_rows(s, "sharp", "gauss_x", photo, strip, rows, vector);
  return s;
}

// A thread a sample: 25 reads each, most of them from the caches.
Schedule gpu_threads(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  s["gauss_x"].compute_inline();
  s["gauss"].compute_inline();
  s["sharp"]
      .compute_root()
      .tile("x", "y", "xo", "yo", "xi", "yi", 32, 8)
      .gpu_blocks("xo", "yo", "c")
      .gpu_threads("xi", "yi");
  return s;
}

// A tile a block, the horizontal blur of the tile and the two rows above and below in shared memory.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  const Knob width = s.knob("WIDTH", 64), height = s.knob("HEIGHT", 32);
  s["edged"].compute_inline();
  s["gauss"].compute_inline();
  s["sharp"]
      .compute_root()
      .tile("x", "y", "xo", "yo", "xi", "yi", width, height)
      .split("yi", "yr", "yt", 4)
      .reorder("yr", "xi", "yt", "xo", "yo", "c")
      .gpu_blocks("xo", "yo", "c")
      .gpu_threads("xi", "yt");
  s["gauss_x"]
      .compute_at("sharp", "xo")
      .store_in(Memory::Shared)
      .split("y", "yu", "yt", 4)
      .reorder("yu", "x", "yt")
      .gpu_threads("x", "yt");
  return s;
}

CALOTYPE_SCHEDULES(unsharp)
    .schedule("naive", Target::Kind::Host, "every stage at root, the output serial", naive)
    .schedule("fused", Target::Kind::Host, "the vertical blur inside the last stage", fused)
    .schedule("strips", Target::Kind::Host,
              "strips of rows in parallel, the horizontal blur slides down a strip", strips)
    .schedule("vectors", Target::Kind::Host, "the strips, vectorised along x", vectors)
    .schedule("host", Target::Kind::Host, "eight rows of a vector at a time, the horizontal blur beside them",
              host)
    .schedule("gpu_threads", Target::Kind::Cuda, "a thread a sample", gpu_threads)
    .schedule("gpu", Target::Kind::Cuda, "tiles with their horizontal blur in shared memory", gpu);

}  // namespace
