// gpu_lanes.
#include "helpers.h"

namespace calotype::test {

TEST(GpuLanes, BindsWholeLoopsAndSplits) {
  Schedule s;
  s["by"].split("x", "xo", "xl", 32).gpu_blocks("xo", "y").gpu_lanes("xl");
  EXPECT_EQ(loops(apply(blur(), s, gpu), "by"), (Names{"xl:gpu_threadx", "xo:gpu_blockx", "y:gpu_blocky"}));
  EXPECT_NE(schedule::to_string(apply(blur(), s, gpu)).find("for xl: gpu_thread lane"), std::string::npos);
  expect_round_trip(blur(), s, gpu);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "gpu_lanes", "loop": "xl" })",
                  R"(s["by"].gpu_lanes("xl");)", gpu);
  Schedule split;
  split["by"].gpu_lanes("x", 32, Tail::Predicate).gpu_blocks("x.o", "y");
  EXPECT_EQ(loops(apply(blur(), split, gpu), "by"),
            (Names{"x.l:gpu_threadx", "x.o:gpu_blockx", "y:gpu_blocky"}));
  expect_round_trip(blur(), split, gpu);
  expect_spelling(blur(), split,
                  R"({ "stage": "by", "do": "gpu_lanes", "loop": "x", "by": 32, "tail": "predicate" })",
                  R"(s["by"].gpu_lanes("x", 32, Tail::Predicate);)", gpu);
}

TEST(GpuLanes, IsRefused) {
  Schedule host, wide, twice, threads;
  host["by"].gpu_lanes("x", 32);
  expect_refused(blur(), host, {"the target host has no GPU blocks and threads"});
  wide["by"].split("x", "xo", "xl", 64).gpu_blocks("xo", "y").gpu_lanes("xl");
  expect_refused(blur(), wide, {"64 lanes of a warp", "at most 32"}, gpu);
  twice["by"].split("x", "xo", "xl", 32).gpu_lanes("xl").gpu_lanes("y", 4).gpu_blocks("xo", "y.o");
  expect_refused(blur(), twice, {"'xl' is bound to lanes of the same block"}, gpu);
  threads["by"].gpu_threads("x", 32).gpu_lanes("y", 4).gpu_blocks("x.o", "y.o");
  expect_refused(blur(), threads, {"'x.t' is bound to threads along x of the same block", "gpu_threads"},
                 gpu);
}

}  // namespace calotype::test
