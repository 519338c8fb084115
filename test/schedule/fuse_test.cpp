// fuse.
#include "helpers.h"

namespace calotype::test {

TEST(Fuse, MakesOneLoop) {
  Schedule s;
  s["by"].fuse("x", "y", "xy");
  const auto applied = apply(blur(), s);
  EXPECT_EQ(loops(applied, "by"), (Names{"xy"}));
  const auto& t = applied.of(applied.graph.find_func("by")->id).stages[0].transforms;
  ASSERT_EQ(t.size(), 1u);
  EXPECT_EQ(t[0].kind, schedule::Transform::Kind::Fuse);
  EXPECT_EQ(applied.loop(t[0].inner).name, "x");
  EXPECT_EQ(applied.loop(t[0].outer).name, "y");
  EXPECT_EQ(applied.loop(t[0].fused).name, "xy");
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "fuse", "loops": ["x", "y"], "into": "xy" })",
                  R"(s["by"].fuse("x", "y", "xy");)");
}

TEST(Fuse, StandsWhereTheInnerOneStood) {
  Schedule s;
  s["by"].split("x", "xo", "xi", 8).fuse("xi", "y", "f");
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"f", "xo"}));
}

TEST(Fuse, IsRefused) {
  Schedule mixed, same, taken;
  mixed["acc"].update().fuse("k", "n", "kn");
  expect_refused(matmul(), mixed, {"a reduction loop cannot be fused with a pure one"});
  same["by"].fuse("x", "x", "f");
  expect_refused(blur(), same, {"'x' is used twice in one directive", "#1 fuse(x, x, f)"});
  taken["by"].fuse("x", "y", "x");
  expect_refused(blur(), taken, {"by has or had a loop 'x' already"});
}

TEST(Fuse, ReductionLoopsKeepTheirOrder) {
  Schedule s, exchanged;
  s["s"].update().fuse("r.x", "r.y", "f");
  EXPECT_EQ(loops(apply(recurrence(), s), "s", 1), (Names{"f"}));
  exchanged["s"].update().fuse("r.y", "r.x", "f");
  expect_refused(recurrence(), exchanged, {"exchanging 'r.x' and 'r.y' changes the order of updates of 's'"});
}

}  // namespace calotype::test
