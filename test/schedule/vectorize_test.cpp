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

TEST(Vectorize, TakesReductionLoopsOfAssociativeUpdates) {
  Schedule s;
  s["acc"].update().vectorize("k", 8);
  const auto applied = apply(matmul(), s);
  EXPECT_EQ(loops(applied, "acc", 1), (Names{"k.v:vector", "k.o", "n", "m"}));
  EXPECT_EQ(applied.numerics.reassociates, Names{"acc.k"});
  EXPECT_NE(schedule::to_string(applied).find("for k.v: vector, reduction of partial results"),
            std::string::npos);
  EXPECT_TRUE(apply(matmul(Int(32)), s).numerics.reassociates.empty());
  expect_round_trip(matmul(), s);
}

TEST(Vectorize, IsRefusedForRaces) {
  Schedule scan, scatter, no_loop;
  scan["scan"].update().vectorize("k", 8);
  expect_refused(column_scan(), scan,
                 {"vectorize over the reduction loop 'k.v' is a race", "#1 vectorize(k, 8)"});
  scatter["hist"].update().vectorize("r.x", 8);
  expect_refused(
      histogram(), scatter,
      {"vectorize over the reduction loop 'r.x.v' is a race: iterations i and j of 'r.x.v' may both "
       "write hist(",
       "rfactor", "atomic"});
  no_loop["hist"].update().vectorize("b", 8);
  expect_refused(histogram(), no_loop, {"the update has no loop 'b': it scatters over that dimension"});
}

TEST(Vectorize, WantsPlacesToStayInsideLanesOfPartialResults) {
  Schedule inside, apart;
  inside["acc"].update().reorder("n", "k").vectorize("k", 8);
  expect_refused(
      matmul(), inside,
      {"'n' lies inside the vectorised reduction loop 'k.v'", "reorder, so that 'n' is outside 'k.v'"});
  apart["acc"].update().vectorize("k", 8).vectorize("m", 4);
  expect_refused(matmul(), apart,
                 {"the vector loop 'm.v' is not next to the vectorised reduction loop 'k.v'"});
}

TEST(Vectorize, TakesSeveralLoops) {
  Schedule s, many;
  s["by"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 4).vectorize("xi").vectorize("yi");
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"xi:vector", "yi:vector", "xo", "yo"}));
  expect_round_trip(blur(), s);
  many["by"].vectorize("x", 64).vectorize("y", 8);
  expect_refused(blur(), many,
                 {"the 2 vector loops of by have 512 lanes together", "at most 256 lanes in all"});
}

TEST(Vectorize, IsRefusedForUnknownExtents) {
  Schedule whole, wide;
  whole["by"].vectorize("x");
  expect_refused(blur(), whole, {"the extent of 'x' is not a constant", "vectorize(x, FACTOR)"});
  wide["by"].vectorize("x", 512);
  expect_refused(blur(), wide, {"'by' is out of range", "1 to 256"});
}

}  // namespace calotype::test
