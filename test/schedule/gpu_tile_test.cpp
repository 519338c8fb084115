// gpu_tile.
#include "helpers.h"

namespace calotype::test {

TEST(GpuTile, SplitsAndBinds) {
  Schedule s, by_hand;
  s["by"].gpu_tile("x", "y", "bx", "by", "tx", "ty", 32, 8);
  EXPECT_EQ(loops(apply(blur(), s, gpu), "by"),
            (Names{"tx:gpu_threadx", "ty:gpu_thready", "bx:gpu_blockx", "by:gpu_blocky"}));
  expect_round_trip(blur(), s, gpu);
  expect_spelling(
      blur(), s,
      R"({ "stage": "by", "do": "gpu_tile", "loops": ["x", "y"], "into": ["bx", "by", "tx", "ty"], "by": [32, 8] })",
      R"(s["by"].gpu_tile("x", "y", "bx", "by", "tx", "ty", 32, 8);)", gpu);
}

TEST(GpuTile, TakesOneLoop) {
  Schedule s;
  s["by"].gpu_tile("x", "bx", "tx", 64, Tail::Guard).serial("y");
  s["by"].reorder("tx", "y", "bx");
  EXPECT_EQ(loops(apply(blur(), s, gpu), "by"), (Names{"tx:gpu_threadx", "y", "bx:gpu_blockx"}));
  expect_round_trip(blur(), s, gpu);
  expect_spelling(
      blur(), s,
      R"({ "stage": "by", "do": "gpu_tile", "loops": ["x"], "into": ["bx", "tx"], "by": [64], "tail": "guard" })",
      R"(s["by"].gpu_tile("x", "bx", "tx", 64, Tail::Guard);)", gpu);
}

TEST(GpuTile, IsRefused) {
  Schedule host, counts, bound;
  host["by"].gpu_tile("x", "bx", "tx", 64);
  expect_refused(blur(), host, {"the target host has no GPU blocks and threads"});
  counts["by"].gpu_tile({"x", "y"}, {"bx"}, {"tx"}, {4, 4});
  expect_refused(blur(), counts, {"2 loops make 4 new ones by 2 factors, not 2 by 2"}, gpu);
  bound["by"].gpu_tile("x", "bx", "tx", 2048);
  expect_refused(blur(), bound, {"'by' is out of range", "1 to 1024"}, gpu);
}

}  // namespace calotype::test
