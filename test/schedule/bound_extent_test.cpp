// bound_extent.
#include "helpers.h"

namespace calotype::test {

TEST(BoundExtent, PromisesAnExtent) {
  Schedule s;
  const Knob W = s.knob("W", 16);
  s["by"].bound_extent("x", W).vectorize("x");
  const auto applied = apply(blur(), s);
  const auto& bounds = applied.of(applied.graph.find_func("by")->id).bounds;
  ASSERT_EQ(bounds.size(), 1u);
  EXPECT_EQ(bounds[0].dim, 0);
  EXPECT_FALSE(bounds[0].min.has_value());
  EXPECT_EQ(bounds[0].extent, 16);
  EXPECT_TRUE(has_line(schedule::to_string(applied), "  x of extent 16  [#1 bound_extent(x, W)]"));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "bound_extent", "dim": "x", "extent": "W" })",
                  R"(s["by"].bound_extent("x", W);)");
}

TEST(BoundExtent, IsRefused) {
  Schedule unknown, twice, empty;
  unknown["by"].bound_extent("z", 4);
  expect_refused(blur(), unknown, {"'by' has no coordinate 'z'", "coordinates of by: x, y"});
  twice["by"].bound("x", 0, 4).bound_extent("x", 8);
  expect_refused(blur(), twice, {"'x' is bounded already, by #1 bound(x, 0, 4)"});
  empty["by"].bound_extent("x", 0);
  expect_refused(blur(), empty, {"'extent' is out of range"});
}

}  // namespace calotype::test
