// align_storage.
#include "helpers.h"

namespace calotype::test {

TEST(AlignStorage, IsRecorded) {
  Schedule s;
  s["bx"].compute_root().align_storage("x", 8);
  const auto applied = apply(blur(), s);
  const auto& numbers = applied.of(applied.graph.find_func("bx")->id).storage.multiples;
  ASSERT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers[0].dim, 0);
  EXPECT_EQ(numbers[0].value, 8);
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "align_storage", "dim": "x", "multiple": 8 })",
                  R"(s["bx"].align_storage("x", 8);)");
}

TEST(AlignStorage, IsRefused) {
  Schedule output, unknown, twice, zero;
  output["by"].align_storage("x", 8);
  expect_refused(blur(), output, {"'by' is an output, which lives in the caller's memory"});
  unknown["bx"].compute_root().align_storage("z", 8);
  expect_refused(blur(), unknown, {"'bx' has no coordinate 'z'"});
  twice["bx"].compute_root().align_storage("x", 8).align_storage("x", 16);
  expect_refused(blur(), twice,
                 {"'x' has one already, by #2 align_storage(x, 8)", "one align_storage a coordinate"});
  zero["bx"].compute_root().align_storage("x", 0);
  expect_refused(blur(), zero, {"'multiple' is out of range"});
}

}  // namespace calotype::test
