// cluster.
#include "helpers.h"

namespace calotype::test {

const Target hopper = Target::cuda("sm_90a");

/// Rows of 64 columns, of which each block of a cluster has `part`.
Schedule rows(int part) {
  Schedule s;
  s["by"].bound("x", 0, 64).split("x", "c", "xi", part).gpu_blocks("y").cluster("c").gpu_threads("xi");
  return s;
}

TEST(Cluster, BindsALoop) {
  EXPECT_EQ(loops(apply(blur(), rows(16), hopper), "by"),
            (Names{"xi:gpu_threadx", "c:gpu_cluster", "y:gpu_blockx"}));
  expect_round_trip(blur(), rows(16), hopper);
  expect_spelling(blur(), rows(16), R"({ "stage": "by", "do": "cluster", "loop": "c" })",
                  R"(s["by"].cluster("c");)", hopper);
}

TEST(Cluster, ComputesOnceAClusterOrOnceABlock) {
  for (const char* loop : {"y", "c"}) {
    Schedule s = rows(16);
    s["bx"].compute_at("by", loop).store_in(Memory::Shared);
    EXPECT_EQ(computed(apply(blur(), s, hopper), "bx"), std::string("by.") + loop);
    expect_round_trip(blur(), s, hopper);
  }
}

TEST(Cluster, IsRefused) {
  expect_refused(blur(), rows(16), {"the target cuda-sm_80 has no clusters of blocks", "sm_90 and later"},
                 Target::cuda("sm_80"));
  expect_refused(blur(), rows(2), {"a cluster of 32 blocks", "at most 16 on cuda-sm_90a"}, hopper);
  expect_refused(blur(), rows(4), {"a cluster of 16 blocks", "at most 8 on cuda-sm_120a"},
                 Target::cuda("sm_120a"));
  Schedule no_grid, twice, shared;
  no_grid["by"].bound("x", 0, 64).split("x", "c", "xi", 16).cluster("c");
  expect_refused(blur(), no_grid, {"the cluster of by is in no grid"}, hopper);
  twice["by"].bound("x", 0, 64).split("x", "c", "xi", 16).split("xi", "d", "xj", 4);
  twice["by"].gpu_blocks("y").cluster("c").cluster("d");
  expect_refused(blur(), twice, {"'c' is bound to the blocks of a cluster already"}, hopper);
  shared = rows(16);
  shared["bx"].compute_at("by", "y").split("x", "c", "xi", 16).cluster("c");
  expect_refused(
      blur(), shared,
      {"each block of the cluster would compute a part of 'bx'", "store_in(register) or store_in(shared)"},
      hopper);
  // Parts of another size lie in other blocks than those that read them.
  shared = rows(16);
  shared["bx"].compute_at("by", "y").store_in(Memory::Shared).split("x", "c", "xi", 32).cluster("c");
  expect_refused(blur(), shared, {"'bx' is held in shared memory of cluster rank", "another block uses it"},
                 hopper);
}

}  // namespace calotype::test
