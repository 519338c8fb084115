// tile.
#include "helpers.h"

namespace calotype::test {

TEST(Tile, SplitsAndReorders) {
  Schedule s;
  s["by"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8, Tail::Guard);
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"xi", "yi", "xo", "yo"}));
  expect_round_trip(blur(), s);
  expect_spelling(
      blur(), s,
      R"({ "stage": "by", "do": "tile", "loops": ["x", "y"], "into": ["xo", "yo", "xi", "yi"], "by": [32, 8], "tail": "guard" })",
      R"(s["by"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8, Tail::Guard);)");
}

TEST(Tile, TakesAnyNumberOfLoops) {
  Schedule s;
  const Knob B = s.knob("B", 4);
  s["by"].tile({"x"}, {"xo"}, {"xi"}, {B});
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"xi", "xo", "y"}));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s,
                  R"({ "stage": "by", "do": "tile", "loops": ["x"], "into": ["xo", "xi"], "by": ["B"] })",
                  R"(s["by"].tile({"x"}, {"xo"}, {"xi"}, {B});)");
}

TEST(Tile, LeavesLoopsBetweenInPlace) {
  Schedule s;
  s["acc"].update().tile("k", "m", "ko", "mo", "ki", "mi", 8, 4);
  const auto applied = apply(matmul(), s);
  EXPECT_EQ(loops(applied, "acc", 1), (Names{"ki", "n", "mi", "ko", "mo"}));
  EXPECT_TRUE(applied.numerics.reassociates.empty()) << "k is still visited in order";
}

TEST(Tile, IsRefused) {
  Schedule counts, unit, order;
  counts["by"].tile({"x", "y"}, {"xo"}, {"xi"}, {4, 4});
  expect_refused(blur(), counts, {"2 loops make 4 new ones by 2 factors, not 2 by 2"});
  unit["by"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 0);
  expect_refused(blur(), unit, {"'by' is out of range", "0"});
  order["s"].update().tile("r.x", "r.y", "xo", "yo", "xi", "yi", 8, 8);
  expect_refused(recurrence(), order, {"changes the order of updates of 's'"});
}

}  // namespace calotype::test
