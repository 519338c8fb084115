// vectorize.
#include "helpers.h"

namespace calotype::test {

TEST(Vectorize, SplitsByAFactor) {
  Schedule s;
  s["by"].vectorize("x", 8);
  const auto applied = apply(blur(), s);
  EXPECT_EQ(loops(applied, "by"), (Names{"x.v:vector", "x.o", "y"}));
  EXPECT_EQ(applied.of(applied.graph.find_func("by")->id).stages[0].transforms[0].tail, Tail::Predicate);
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "vectorize", "loop": "x", "by": 8 })",
                  R"(s["by"].vectorize("x", 8);)");
}

TEST(Vectorize, TakesPureLoopsOfUpdates) {
  Schedule s;
  s["acc"].update().vectorize("n", 8);
  EXPECT_EQ(loops(apply(matmul(), s), "acc", 1), (Names{"k", "n.v:vector", "n.o", "m"}));
}

TEST(Vectorize, IsRefusedForRaces) {
  Schedule reduction, scatter;
  reduction["acc"].update().vectorize("k", 8);
  expect_refused(matmul(), reduction,
                 {"vectorize over the reduction loop 'k' is a race", "rfactor", "#1 vectorize(k, 8)"});
  scatter["hist"].update().vectorize("b", 8);
  expect_refused(histogram(), scatter, {"the update has no loop 'b': it scatters over that dimension"});
}

TEST(Vectorize, IsRefusedASecondTimeAndForUnknownExtents) {
  Schedule twice, whole, wide;
  twice["by"].vectorize("x", 8).vectorize("y", 4);
  expect_refused(blur(), twice, {"by is vectorised already, over 'x.v'"});
  whole["by"].vectorize("x");
  expect_refused(blur(), whole, {"the extent of 'x' is not a constant", "vectorize(x, FACTOR)"});
  wide["by"].vectorize("x", 512);
  expect_refused(blur(), wide, {"'by' is out of range", "1 to 256"});
}

}  // namespace calotype::test
