// set_estimate.
#include "helpers.h"

namespace calotype::test {

TEST(SetEstimate, IsRecordedAndChangesNothing) {
  Schedule s, none;
  s["bx"].set_estimate("x", -2, 1000);
  s["by"].set_estimate("y", 0, 500);
  const auto applied = apply(blur(), s);
  const auto& estimates = applied.of(applied.graph.find_func("bx")->id).estimates;
  ASSERT_EQ(estimates.size(), 1u);
  EXPECT_EQ(estimates[0].dim, 0);
  EXPECT_EQ(estimates[0].min, -2);
  EXPECT_EQ(estimates[0].extent, 1000);
  EXPECT_EQ(computed(applied, "bx"), computed(apply(blur(), none), "bx"));
  EXPECT_EQ(loops(applied, "by"), loops(apply(blur(), none), "by"));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s,
                  R"({ "stage": "bx", "do": "set_estimate", "dim": "x", "min": -2, "extent": 1000 })",
                  R"(s["bx"].set_estimate("x", -2, 1000);)");
}

TEST(SetEstimate, OfAnInlinedFuncIsLegal) {
  Schedule s;
  s["bx"].compute_inline().set_estimate("x", 0, 8);
  EXPECT_TRUE(s.check(blur()).empty());
}

TEST(SetEstimate, IsRefused) {
  Schedule unknown, twice;
  unknown["bx"].set_estimate("z", 0, 8);
  expect_refused(blur(), unknown, {"'bx' has no coordinate 'z'"});
  twice["bx"].set_estimate("x", 0, 8).set_estimate("x", 0, 9);
  expect_refused(blur(), twice, {"'x' is estimated already, by #1 set_estimate(x, 0, 8)"});
}

}  // namespace calotype::test
