// bound.
#include "helpers.h"

namespace calotype::test {

TEST(Bound, PromisesAnExtent) {
  Schedule s;
  s["by"].bound("x", 0, 16).vectorize("x");
  const auto applied = apply(blur(), s);
  const auto& bounds = applied.of(applied.graph.find_func("by")->id).bounds;
  ASSERT_EQ(bounds.size(), 1u);
  EXPECT_EQ(bounds[0].dim, 0);
  EXPECT_EQ(bounds[0].min, 0);
  EXPECT_EQ(bounds[0].extent, 16);
  EXPECT_EQ(loops(applied, "by"), (Names{"x:vector", "y"}));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "bound", "dim": "x", "min": 0, "extent": 16 })",
                  R"(s["by"].bound("x", 0, 16);)");
}

TEST(Bound, CountsWhereverItStands) {
  Schedule s;
  s["by"].unroll("x").bound("x", 0, 4);
  expect_round_trip(blur(), s);
}

TEST(Bound, IsRefused) {
  Schedule unknown, twice, empty;
  unknown["by"].bound("z", 0, 4);
  expect_refused(blur(), unknown, {"'by' has no coordinate 'z'", "coordinates of by: x, y"});
  twice["by"].bound("x", 0, 4).bound("x", 0, 8);
  expect_refused(blur(), twice, {"'x' is bounded already, by #1 bound(x, 0, 4)"});
  empty["by"].bound("x", 0, 0);
  expect_refused(blur(), empty, {"'extent' is out of range", "#1 bound(x, 0, 0)"});
}

}  // namespace calotype::test
