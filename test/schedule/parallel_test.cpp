// parallel.
#include "helpers.h"

namespace calotype::test {

TEST(Parallel, BindsTheLoop) {
  Schedule s;
  s["by"].parallel("y");
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"x", "y:parallel"}));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "parallel", "loop": "y" })",
                  R"(s["by"].parallel("y");)");
}

TEST(Parallel, IsRefusedForRaces) {
  Schedule reduction, scan, scatter;
  reduction["acc"].update().parallel("k");
  expect_refused(matmul(), reduction,
                 {"parallel over the reduction loop 'k' is a race", "rfactor makes 'k' pure"});
  scan["scan"].update().parallel("k");
  expect_refused(column_scan(), scan, {"parallel over the reduction loop 'k' is a race"});
  scatter["hist"].update().parallel("b");
  expect_refused(histogram(), scatter, {"scatters over that dimension, writing at", "r.x"});
}

TEST(Parallel, IsRefusedOnAGpu) {
  Schedule s;
  s["by"].parallel("y");
  expect_refused(blur(), s, {"the target cuda-interpreter runs every loop on the GPU", "gpu_blocks"},
                 Target::interpreter());
}

}  // namespace calotype::test
