// align_extent.
#include "helpers.h"

namespace calotype::test {

TEST(AlignExtent, IsRecorded) {
  Schedule s;
  s["bx"].compute_root().align_extent("x", 8);
  const auto applied = apply(blur(), s);
  const auto& alignments = applied.of(applied.graph.find_func("bx")->id).alignments;
  ASSERT_EQ(alignments.size(), 1u);
  EXPECT_EQ(alignments[0].modulus, 8);
  EXPECT_FALSE(alignments[0].remainder.has_value());
  EXPECT_TRUE(
      has_line(schedule::to_string(applied), "  x of an extent in multiples of 8  [#2 align_extent(x, 8)]"));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "align_extent", "dim": "x", "modulus": 8 })",
                  R"(s["bx"].align_extent("x", 8);)");
}

TEST(AlignExtent, IsRefused) {
  Schedule twice, output, bounded;
  twice["bx"].compute_root().align_bounds("x", 4).align_extent("x", 8);
  expect_refused(blur(), twice, {"'x' is aligned already, by #2 align_bounds(x, 4)"});
  output["by"].align_extent("x", 4);
  expect_refused(blur(), output, {"'by' is an output, of which the caller chooses the region"});
  bounded["bx"].compute_root().align_extent("x", 4).bound_extent("x", 18);
  expect_refused(blur(), bounded,
                 {"the bound of 'x' by #3 bound_extent(x, 18) is no such region", "a divisor of 18"});
}

}  // namespace calotype::test
