// Schedules of blur3x3: from the plainest to the one that is shipped.
#include <calotype/operator.h>

#include "../blocks_of_rows.h"

namespace {

using namespace calotype;

// Lanes of a vector of 64 bytes; sums of u8 are u16.
int lanes(const OperatorTypes& types) { return types.all().is_float() ? 16 : 32; }

// Both sums at root, loops serial: what a first C program would do.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  s["blur_x"].compute_root();
  s["blur"].compute_root().serial("c");
  return s;
}

// The horizontal sums are recomputed wherever they are needed: no memory between the stages, 3 times the
// additions.
Schedule inlined(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  s["blur_x"].compute_inline();
  s["blur"].compute_root().serial("c");
  return s;
}

// Strips of rows in parallel; within a strip the horizontal sums of a row are made when the row is first
// needed.
Schedule strips(const OperatorTypes&) {
  Schedule s;
  const Knob rows = s.knob("ROWS", 32);
  s["edged"].compute_inline();
  s["blur"].compute_root().split("y", "yo", "yi", rows).reorder("x", "yi", "yo", "c").parallel("yo");
  s["blur_x"].store_at("blur", "yo").compute_at("blur", "yi");
  return s;
}

// The strips, vectorised along x.
Schedule vectors(const OperatorTypes& types) {
  Schedule s;
  const Knob rows = s.knob("ROWS", 32), vector = s.knob("VECTOR", lanes(types));
  s["edged"].compute_inline();
  s["blur"]
      .compute_root()
      .split("y", "yo", "yi", rows)
      .reorder("x", "yi", "yo", "c")
      .vectorize("x", vector)
      .parallel("c")
      .parallel("yo");
  s["blur_x"].store_at("blur", "yo").compute_at("blur", "yi").vectorize("x", vector);
  return s;
}

// A few rows of a vector at a time, the horizontal sums of those and of two more beside them.
Schedule host(const OperatorTypes& types) {
  Schedule s;
  const bool photo = !types.all().is_float();
  const Knob strip = s.knob("STRIP", 128), rows = s.knob("ROWS", photo ? 16 : 8),
             vector = s.knob("VECTOR", lanes(types));
  apps::blocks_of_rows(s, "blur", "blur_x", photo, strip, rows, vector);
  return s;
}

// A thread a sample: nine reads each, most of them from the caches.
Schedule gpu_threads(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  s["blur_x"].compute_inline();
  s["blur"]
      .compute_root()
      .tile("x", "y", "xo", "yo", "xi", "yi", 32, 8)
      .gpu_blocks("xo", "yo", "c")
      .gpu_threads("xi", "yi");
  return s;
}

// A tile a block, the horizontal sums of the tile and its rows above and below in shared memory.
Schedule gpu_tiles(const OperatorTypes&) {
  Schedule s;
  const Knob width = s.knob("WIDTH", 64), height = s.knob("HEIGHT", 16);
  s["edged"].compute_inline();
  s["blur"]
      .compute_root()
      .tile("x", "y", "xo", "yo", "xi", "yi", width, height)
      .split("yi", "yr", "yt", 4)
      .reorder("yr", "xi", "yt", "xo", "yo", "c")
      .gpu_blocks("xo", "yo", "c")
      .gpu_threads("xi", "yt");
  s["blur_x"]
      .compute_at("blur", "xo")
      .store_in(Memory::Shared)
      .split("y", "yu", "yt", 4)
      .reorder("yu", "x", "yt")
      .gpu_threads("x", "yt");
  return s;
}

// A thread has VECTOR x ROWS samples, in registers those that they are made of, in whole vectors of the
// image, and the horizontal sums. Blocks that no edge of the image meets have code without clamps; what
// threads beside each other read twice comes from the first-level cache.
Schedule gpu(const OperatorTypes& types) {
  Schedule s;
  const Knob vector = s.knob("VECTOR", types.all() == UInt(8) ? 8 : 4), rows = s.knob("ROWS", 8),
             threads = s.knob("THREADS", 4);
  s["blur"]
      .compute_root()
      .split("x", "xb", "xv", vector)
      .split("xb", "xo", "xt", 32)
      .split("y", "yb", "yr", rows)
      .split("yb", "yo", "yt", threads)
      .reorder("xv", "yr", "xt", "yt", "xo", "yo", "c")
      .vectorize("xv")
      .unroll("yr")
      .gpu_blocks("xo", "yo", "c")
      .gpu_threads("xt", "yt")
      .partition("xo", Partition::Always)
      .partition("yo", Partition::Always);
  s["edged"]
      .compute_at("blur", "xt")
      .store_in(Memory::Register)
      .align_bounds("x", vector)
      .vectorize("x", vector)
      .unroll("x.o")
      .unroll("y");
  s["blur_x"]
      .compute_at("blur", "xt")
      .store_in(Memory::Register)
      .vectorize("x", vector, Tail::RoundUp)
      .unroll("y");
  return s;
}

CALOTYPE_SCHEDULES(blur3x3)
    .schedule("naive", Target::Kind::Host, "both sums at root, the output serial", naive)
    .schedule("inlined", Target::Kind::Host, "horizontal sums recomputed at each use, serial", inlined)
    .schedule("strips", Target::Kind::Host, "strips of rows in parallel, horizontal sums slide down a strip",
              strips)
    .schedule("vectors", Target::Kind::Host, "the strips, vectorised along x", vectors)
    .schedule("host", Target::Kind::Host, "a few rows of a vector at a time, horizontal sums beside them",
              host)
    .schedule("gpu_threads", Target::Kind::Cuda, "a thread a sample", gpu_threads)
    .schedule("gpu_tiles", Target::Kind::Cuda, "tiles with their horizontal sums in shared memory", gpu_tiles)
    .schedule("gpu", Target::Kind::Cuda, "a few samples a thread, their horizontal sums in registers", gpu);

}  // namespace
