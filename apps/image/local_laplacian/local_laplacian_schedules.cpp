// Schedules of local_laplacian.
#include <calotype/operator.h>

#include <string>

namespace {

using namespace calotype;

constexpr int kPyramid = 8;

std::string level(const char* name, int j) { return name + std::to_string(j); }

// What is read once at each point goes into its reader.
void inline_small(Schedule& s) {
  s["edged"].compute_inline();
  for (int j = 0; j < kPyramid; ++j) {
    s[level("laplace", j)].compute_inline();
    s[level("chosen", j)].compute_inline();
  }
}

// Every stage of every level at root, serial.
Schedule naive(const OperatorTypes&) {
  Schedule s;
  s["edged"].compute_inline();
  s["out"].compute_root().serial("c");
  return s;
}

// A finer level from a coarser one, made for a row of its reader: points in pairs, which read the same two.
void upsampled_rows(Schedule& s, const std::string& up, const std::string& reader, const Knob& vector) {
  s[up + "_y"].compute_inline();
  s[up]
      .compute_at(reader, "yi")
      .align_bounds("x", 2)
      .split("x", "xh", "xp", 2)
      .unroll("xp")
      .vectorize("xh", vector);
}

// The levels one after the other, each in strips of rows in parallel. Only half-size pyramids are stored for
// every intensity: the remapped image is made a row at a time where it is halved, and again, at the two
// intensities needed, at each point of the result.
Schedule host(const OperatorTypes&) {
  Schedule s;
  const Knob strip = s.knob("STRIP", 32), vector = s.knob("VECTOR", 16);
  inline_small(s);
  s["table"].compute_root();
  s["gray"].compute_root().split("y", "yo", "yi", strip).vectorize("x", vector).parallel("yo");
  for (int j = 1; j < kPyramid; ++j) {
    const std::string gauss = level("gauss", j), gray = level("gray", j);
    s[gray].compute_root().vectorize("x", vector);
    s[gray + "_x"].compute_at(gray, "y").vectorize("x", vector);
    s[gauss]
        .compute_root()
        .reorder_storage("x", "k", "y")
        .reorder("x", "k", "y")
        .split("y", "yo", "yi", 8)
        .vectorize("x", vector)
        .parallel("yo");
    s[gauss + "_x"]
        .compute_at(gauss, "yi")
        .store_at(gauss, "yo")
        .reorder_storage("x", "k", "y")
        .reorder("x", "k", "y")
        .vectorize("x", vector);
  }
  s["gauss0"].compute_inline();
  s[s.in("gauss0", {"gauss1_x"})].compute_at("gauss1_x", "k").vectorize("x", vector);
  for (int j = kPyramid - 2; j >= 0; --j) {
    const std::string reader = j == 0 ? "out" : level("result", j);
    if (j > 0) s[reader].compute_root().split("y", "yo", "yi", 8).vectorize("x", vector).parallel("yo");
    upsampled_rows(s, level("gauss_up", j), reader, vector);
    upsampled_rows(s, level("result_up", j), reader, vector);
  }
  s["result0"].compute_at("out", "yi").vectorize("x", vector);
  s["out"]
      .compute_root()
      .split("y", "yo", "yi", strip)
      .reorder("x", "c", "yi", "yo")
      .vectorize("x", vector)
      .parallel("yo");
  return s;
}

// Tiles of 32 x 8 points, a thread a point; the coarsest levels have few.
void gpu_tiles(Stage stage, const Knob& width, const Knob& height) {
  stage.compute_root()
      .tile("x", "y", "xo", "yo", "xi", "yi", width, height)
      .gpu_blocks("xo", "yo")
      .gpu_threads("xi", "yi")
      .partition("xo", Partition::Always)
      .partition("yo", Partition::Always);
}

// The levels one after the other, all intensities of a point in one thread. Of the finest half-size level a
// thread has 2 x 2 points: the 6 x 6 points of the gray image that they come from stay in registers, and for
// each intensity the remapped image and its sums along x. The remapped image is never stored; it is made
// again at the two intensities needed for each point of the result.
Schedule gpu(const OperatorTypes&) {
  Schedule s;
  const Knob width = s.knob("WIDTH", 32), height = s.knob("HEIGHT", 8), vector = s.knob("VECTOR", 4);
  inline_small(s);
  s["table"].compute_root().gpu_threads("i", 256).gpu_blocks("i.o");
  s["gray"]
      .split("x", "xb", "xv", vector)
      .compute_root()
      .tile("xb", "y", "xo", "yo", "xi", "yi", width, height);
  s["gray"].vectorize("xv").gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s["gray"].partition("xo", Partition::Always).partition("yo", Partition::Always);
  for (int j = 1; j < kPyramid; ++j) {
    const std::string gauss = level("gauss", j), gray = level("gray", j);
    s[gray + "_x"].compute_inline();
    gpu_tiles(s[gray], width, height);
    if (j == 1) continue;
    s[gauss + "_x"].compute_inline();
    s[gauss].reorder("k", "x", "y");
    gpu_tiles(s[gauss], width, height);
  }
  s["gauss1"]
      .compute_root()
      .split("x", "xb", "xv", 2, Tail::RoundUp)
      .split("y", "yb", "yv", 2, Tail::RoundUp)
      .tile("xb", "yb", "xo", "yo", "xt", "yt", 32, 4)
      .reorder("xv", "yv", "k", "xt", "yt", "xo", "yo")
      .unroll("xv")
      .unroll("yv")
      .gpu_blocks("xo", "yo")
      .gpu_threads("xt", "yt")
      .partition("xo", Partition::Always)
      .partition("yo", Partition::Always);
  const Stage remapped = s.in("gauss0", {"gauss1_x"});
  s.eager_inline("gauss0");
  for (const std::string& part : {remapped.name(), std::string("gauss1_x")})
    s[part].compute_at("gauss1", "k").store_in(Memory::Register).unroll("x").unroll("y");
  const Stage own_gray = s.in("gray", {remapped.name()});
  s[own_gray].compute_at("gauss1", "xt").store_in(Memory::Register).unroll("x").unroll("y");
  for (int j = kPyramid - 2; j >= 0; --j) {
    for (const char* up : {"gauss_up", "result_up"}) {
      s[level(up, j) + "_y"].compute_inline();
      s[level(up, j)].compute_inline();
    }
    if (j > 0) gpu_tiles(s[level("result", j)], width, height);
  }
  s["out"]
      .split("x", "xb", "xv", vector)
      .compute_root()
      .tile("xb", "y", "xo", "yo", "xi", "yi", width, height);
  s["out"].reorder("xv", "c", "xi", "yi", "xo", "yo").vectorize("xv").unroll("c");
  s["out"].gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s["out"].partition("xo", Partition::Always).partition("yo", Partition::Always);
  s["result0"].compute_at("out", "xi").store_in(Memory::Register).vectorize("x", vector, Tail::RoundUp);
  return s;
}

CALOTYPE_SCHEDULES(local_laplacian)
    .schedule("naive", Target::Kind::Host, "every level at root, the output serial", naive)
    .schedule("host", Target::Kind::Host, "levels in strips of rows, remapped images never stored whole",
              host)
    .schedule("gpu", Target::Kind::Cuda, "levels in tiles, all intensities of a point in one thread", gpu);

}  // namespace
