// pad.
#include "helpers.h"

namespace calotype::test {

TEST(Pad, IsRecorded) {
  Schedule s;
  s["bx"].compute_root().pad("x", 1);
  const auto applied = apply(blur(), s);
  const auto& numbers = applied.of(applied.graph.find_func("bx")->id).storage.pads;
  ASSERT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers[0].dim, 0);
  EXPECT_EQ(numbers[0].value, 1);
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "pad", "dim": "x", "elements": 1 })",
                  R"(s["bx"].pad("x", 1);)");
}

TEST(Pad, IsRefused) {
  Schedule output, unknown, twice, zero;
  output["by"].pad("x", 1);
  expect_refused(blur(), output, {"'by' is an output, which lives in the caller's memory"});
  unknown["bx"].compute_root().pad("z", 1);
  expect_refused(blur(), unknown, {"'bx' has no coordinate 'z'"});
  twice["bx"].compute_root().pad("x", 1).pad("x", 2);
  expect_refused(blur(), twice, {"'x' has one already, by #2 pad(x, 1)", "one pad a coordinate"});
  zero["bx"].compute_root().pad("x", 0);
  expect_refused(blur(), zero, {"'elements' is out of range"});
}

}  // namespace calotype::test
