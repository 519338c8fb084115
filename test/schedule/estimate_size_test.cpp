// estimate_size.
#include "helpers.h"

namespace calotype::test {

TEST(EstimateSize, IsRecorded) {
  Schedule s;
  s.estimate_size(Dim("W"), 1920);
  const auto applied = apply(blur(), s);
  ASSERT_EQ(applied.sizes.size(), 1u);
  EXPECT_EQ(applied.sizes[0].size, "W");
  EXPECT_EQ(applied.sizes[0].value, 1920);
  EXPECT_TRUE(has_line(schedule::to_string(applied), "W estimated as 1920  [#1 estimate_size(W, 1920)]"));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "do": "estimate_size", "size": "W", "value": 1920 })",
                  R"(s.estimate_size(Dim("W"), 1920);)");
}

TEST(EstimateSize, IsRefused) {
  Schedule unknown, twice;
  unknown.estimate_size(Dim("Q"), 8);
  expect_refused(blur(), unknown, {"the algorithm has no size 'Q'", "sizes: W, H"});
  twice.estimate_size(Dim("W"), 8);
  twice.estimate_size(Dim("W"), 9);
  expect_refused(blur(), twice, {"'W' is estimated already, by #1 estimate_size(W, 8)"});
}

}  // namespace calotype::test
