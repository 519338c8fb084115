// gpu_blocks.
#include "helpers.h"

namespace calotype::test {

TEST(GpuBlocks, BindsAxesInTheOrderGiven) {
  Schedule s;
  s["by"]
      .split("x", "xo", "xi", 32)
      .gpu_blocks("xo")
      .reorder("xi", "xo", "y")
      .gpu_blocks("y")
      .gpu_threads("xi");
  EXPECT_EQ(loops(apply(blur(), s, gpu), "by"), (Names{"xi:gpu_threadx", "xo:gpu_blockx", "y:gpu_blocky"}));
  expect_round_trip(blur(), s, gpu);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "gpu_blocks", "loops": ["xo"] })",
                  R"(s["by"].gpu_blocks("xo");)", gpu);
}

TEST(GpuBlocks, IsRefusedOnAHostAndForRaces) {
  Schedule host, race;
  host["by"].gpu_blocks("y");
  expect_refused(blur(), host, {"the target host has no GPU blocks and threads", "cuda", "#1 gpu_blocks(y)"});
  race["acc"].update().gpu_blocks("k");
  expect_refused(matmul(), race, {"gpu_blocks over the reduction loop 'k' is a race", "rfactor"}, gpu);
}

TEST(GpuBlocks, IsRefusedInsideOtherLoopsAndBlocks) {
  Schedule order, blocks = tiled();
  order["by"].gpu_blocks("x");
  expect_refused(blur(), order, {"the loop 'y' lies outside the block loop 'x'", "reorder first"}, gpu);
  blocks["bx"].compute_at("by", "xo").gpu_blocks("y");
  expect_refused(blur(), blocks, {"bx is computed inside 'xo' of by and cannot have blocks of its own"}, gpu);
}

TEST(GpuBlocks, IsRefusedForAFourthAxis) {
  Schedule s;
  s["by"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 8).gpu_blocks({"xo", "yo", "xi", "yi"});
  expect_refused(blur(), s, {"a fourth block loop", "yi", "x, y and z"}, gpu);
}

TEST(GpuBlocks, WantsBlocksForAKernel) {
  Schedule s;
  s["by"].split("x", "xo", "xi", 8);
  expect_refused(blur(), s,
                 {"by is a kernel of its own, but none of its loops is bound to blocks", "gpu_blocks"}, gpu);
}

TEST(GpuBlocks, IsRefusedForPlacesBetweenBlockLoops) {
  Schedule blocks = tiled(), threads = tiled();
  blocks["bx"].compute_at("by", "yo");
  expect_refused(blur(), blocks, {"the block loop 'xo' lies inside 'yo'", "compute_at(by, yo)"}, gpu);
  threads["bx"].compute_at("by", "yi");
  expect_refused(blur(), threads, {"the thread loop 'xi' lies inside 'yi'"}, gpu);
}

}  // namespace calotype::test
