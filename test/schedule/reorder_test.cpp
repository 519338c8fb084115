// reorder.
#include "helpers.h"

namespace calotype::test {

TEST(Reorder, PermutesAmongTheirPlaces) {
  Schedule s;
  s["by"].split("x", "xo", "xi", 8).reorder("xo", "xi");
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"xo", "xi", "y"}));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "reorder", "loops": ["xo", "xi"] })",
                  R"(s["by"].reorder("xo", "xi");)");
}

TEST(Reorder, MovesPureLoopsAcrossReductions) {
  Schedule s;
  s["acc"].update().reorder("n", "k", "m");
  const auto applied = apply(matmul(), s);
  EXPECT_EQ(loops(applied, "acc", 1), (Names{"n", "k", "m"}));
  EXPECT_TRUE(applied.numerics.reassociates.empty());
}

TEST(Reorder, ListsReductionsThatChangePlaces) {
  Schedule s;
  s["acc"].update().split("k", "ko", "ki", 8).reorder("ko", "ki");
  EXPECT_EQ(apply(matmul(), s).numerics.reassociates, (Names{"acc.k"}));
  EXPECT_NE(s.to_json(matmul(), Target::host()).find(R"("reassociates": ["acc.k"])"), std::string::npos);
  EXPECT_TRUE(apply(matmul(Int(32)), s).numerics.reassociates.empty()) << "integers do not round";
}

TEST(Reorder, IsRefusedWhereOrderMatters) {
  Schedule s, scan;
  s["s"].update().reorder("r.y", "r.x");
  expect_refused(recurrence(), s,
                 {"exchanging 'r.x' and 'r.y' changes the order of updates of 's'", "#1 reorder(r.y, r.x)"});
  scan["scan"].update().reorder("x", "k");
  EXPECT_EQ(loops(apply(column_scan(), scan), "scan", 1), (Names{"x", "k"})) << "columns are independent";
}

TEST(Reorder, IsRefusedForMissingAndRepeatedLoops) {
  Schedule missing, twice, one;
  missing["by"].reorder("x", "z");
  expect_refused(blur(), missing, {"there is no loop 'z' in by", "loops of by: x, y"});
  twice["by"].reorder("x", "y", "x");
  expect_refused(blur(), twice, {"'x' is used twice in one directive", "#1 reorder(x, y, x)"});
  one["by"].reorder({"x"});
  expect_refused(blur(), one, {"'loops' has 1 elements", "2 to 16"});
}

}  // namespace calotype::test
