// gpu_warps.
#include "helpers.h"

namespace calotype::test {

TEST(GpuWarps, BindsWholeLoopsAndSplits) {
  Schedule s;
  s["by"].gpu_lanes("x", 32).split("y", "yo", "yw", 4).reorder("x.l", "yw", "x.o", "yo");
  s["by"].gpu_blocks("x.o", "yo").gpu_warps("yw");
  EXPECT_NE(schedule::to_string(apply(blur(), s, gpu)).find("for yw: gpu_thread warp"), std::string::npos);
  expect_round_trip(blur(), s, gpu);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "gpu_warps", "loop": "yw" })",
                  R"(s["by"].gpu_warps("yw");)", gpu);
  Schedule split;
  split["by"].gpu_lanes("x", 32).gpu_warps("y", 4).reorder("x.l", "y.w", "x.o", "y.o");
  split["by"].gpu_blocks("x.o", "y.o");
  expect_round_trip(blur(), split, gpu);
  expect_spelling(blur(), split, R"({ "stage": "by", "do": "gpu_warps", "loop": "y", "by": 4 })",
                  R"(s["by"].gpu_warps("y", 4);)", gpu);
}

TEST(GpuWarps, IsRefused) {
  Schedule many, twice, threads;
  many["by"].gpu_warps("y", 64).gpu_blocks("y.o", "x");
  expect_refused(blur(), many, {"'by' is out of range", "1 to 32"}, gpu);
  twice["by"].gpu_warps("x", 4).gpu_warps("y", 4).gpu_blocks("x.o", "y.o");
  expect_refused(blur(), twice, {"'x.w' is bound to warps of the same block"}, gpu);
  threads["by"].gpu_warps("y", 4).gpu_threads("x", 32).gpu_blocks("x.o", "y.o");
  expect_refused(blur(), threads, {"'y.w' is bound to warps of the same block"}, gpu);
}

}  // namespace calotype::test
