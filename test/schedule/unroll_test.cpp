// unroll.
#include "helpers.h"

namespace calotype::test {

TEST(Unroll, SplitsByAFactor) {
  Schedule s;
  s["by"].unroll("y", 4, Tail::Guard);
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"x", "y.u:unrolled", "y.o"}));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "unroll", "loop": "y", "by": 4, "tail": "guard" })",
                  R"(s["by"].unroll("y", 4, Tail::Guard);)");
}

TEST(Unroll, TakesConstantLoopsWhole) {
  Schedule s;
  s["acc"].update().split("k", "ko", "ki", 4).unroll("ki");
  EXPECT_EQ(loops(apply(matmul(), s), "acc", 1), (Names{"ki:unrolled", "ko", "n", "m"}));
  expect_round_trip(matmul(), s);
}

TEST(Unroll, LeavesExtentsInsideAConsumerToBounds) {
  Schedule s;
  s["by"].split("x", "xo", "xi", 8);
  s["bx"].compute_at("by", "xo").unroll("x").vectorize("y");
  EXPECT_EQ(loops(apply(blur(), s), "bx"), (Names{"x:unrolled", "y:vector"}));
}

TEST(Unroll, IsRefusedForLoopsThatAreNotConstant) {
  Schedule s, much;
  s["by"].unroll("y");
  expect_refused(blur(), s, {"the extent of 'y' is not a constant", "unroll(y, FACTOR)", "#1 unroll(y)"});
  much["by"].split("y", "yo", "yi", 4096).unroll("yi");
  expect_refused(blur(), much, {"'yi' has 4096 iterations", "at most 1024"});
}

}  // namespace calotype::test
