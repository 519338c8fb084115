// The first algorithm of the README and its three schedules, as printed there.

#include "support/run.h"

namespace calotype {
namespace {

TEST(Readme, FirstAlgorithmAndItsSchedules) {
  Dim W("W"), H("H");
  ImageParam image(Float(32), {W, H}, "image");
  Var x("x"), y("y");
  Func edged = boundary::repeat_edge(image, "edged");
  Func blur_x("blur_x"), blur("blur");
  blur_x(x, y) = edged(x - 1, y) + edged(x, y) + edged(x + 1, y);
  blur(x, y) = (blur_x(x, y - 1) + blur_x(x, y) + blur_x(x, y + 1)) / 9;
  Pipeline pipeline("blur", {image}, {Output(blur, {W, H})});

  Schedule empty;

  Schedule strips;
  strips["blur"].split("y", "yo", "yi", 32).vectorize("x", 16).parallel("yo");
  strips["blur_x"].store_at("blur", "yo").compute_at("blur", "yi").vectorize("x", 16);

  Schedule gpu;
  gpu["blur"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  gpu["blur_x"].compute_at("blur", "xo").store_in(Memory::Shared);

  const std::vector<Buffer> in{testing::random_buffer(Float(32), {101, 67}, 5)},
      out{Buffer(Float(32), {101, 67})};
#ifdef CALOTYPE_HAS_LLVM
  testing::expect_matches(pipeline, empty, Target::host(), in, out);
  testing::expect_matches(pipeline, strips, Target::host(), in, out);
#endif
  testing::expect_matches(pipeline, empty, Target::interpreter("sm_90a"), in, out);
  testing::expect_matches(pipeline, gpu, Target::interpreter("sm_90a"), in, out);
}

}  // namespace
}  // namespace calotype
