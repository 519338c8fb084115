// bound_storage.
#include "helpers.h"

namespace calotype::test {

TEST(BoundStorage, IsRecorded) {
  Schedule s;
  s["bx"].compute_root().bound_storage("x", 64);
  const auto applied = apply(blur(), s);
  const auto& numbers = applied.of(applied.graph.find_func("bx")->id).storage.extents;
  ASSERT_EQ(numbers.size(), 1u);
  EXPECT_EQ(numbers[0].dim, 0);
  EXPECT_EQ(numbers[0].value, 64);
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "bound_storage", "dim": "x", "extent": 64 })",
                  R"(s["bx"].bound_storage("x", 64);)");
}

TEST(BoundStorage, IsRefused) {
  Schedule output, unknown, twice, zero;
  output["by"].bound_storage("x", 64);
  expect_refused(blur(), output, {"'by' is an output, which lives in the caller's memory"});
  unknown["bx"].compute_root().bound_storage("z", 64);
  expect_refused(blur(), unknown, {"'bx' has no coordinate 'z'"});
  twice["bx"].compute_root().bound_storage("x", 64).bound_storage("x", 128);
  expect_refused(blur(), twice,
                 {"'x' has one already, by #2 bound_storage(x, 64)", "one bound_storage a coordinate"});
  zero["bx"].compute_root().bound_storage("x", 0);
  expect_refused(blur(), zero, {"'extent' is out of range"});
}

TEST(BoundStorage, OfARegionThatLoopsChangeIsRefused) {
  Schedule loose;
  loose["by"].serial("y").split("x", "xo", "xi", 8, Tail::Guard);
  loose["bx"].compute_at("by", "xo").bound_storage("x", 7);
  expect_refused(blur(), loose,
                 {"the memory of 'bx' along 'x' is not proved to fit", "#4 bound_storage(x, 7)"});
}

TEST(BoundStorage, SmallerThanTheRingIsRefused) {
  Schedule s;
  s["by"].serial("y");
  s["bx"].store_root().compute_at("by", "y").bound_storage("y", 3);
  expect_refused(blur(), s, {"'bx' is kept in a ring of 4 along 'y'", "fold_storage"});
}

}  // namespace calotype::test
