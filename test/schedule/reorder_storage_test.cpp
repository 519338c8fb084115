// reorder_storage.
#include "helpers.h"

namespace calotype::test {

TEST(ReorderStorage, SetsTheOrderInMemory) {
  Schedule s;
  s["bx"].compute_root().reorder_storage("y", "x");
  const auto applied = apply(blur(), s);
  EXPECT_EQ(applied.of(applied.graph.find_func("bx")->id).storage.order, (std::vector<int>{1, 0}));
  EXPECT_TRUE(has_line(schedule::to_string(applied), "  in memory y, x"));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "reorder_storage", "dims": ["y", "x"] })",
                  R"(s["bx"].reorder_storage("y", "x");)");
}

TEST(ReorderStorage, IsRefused) {
  Schedule output, unknown, twice, repeated;
  output["by"].reorder_storage("y", "x");
  expect_refused(blur(), output, {"'by' is an output, which lives in the caller's memory"});
  unknown["bx"].compute_root().reorder_storage("y", "z");
  expect_refused(blur(), unknown, {"'bx' has no coordinate 'z'"});
  twice["bx"].compute_root().reorder_storage("y", "x").reorder_storage("x", "y");
  expect_refused(blur(), twice, {"the memory of 'bx' has its order already"});
  repeated["bx"].compute_root().reorder_storage("x", "x");
  expect_refused(blur(), repeated, {"'x' is used twice in one directive"});
}

}  // namespace calotype::test
