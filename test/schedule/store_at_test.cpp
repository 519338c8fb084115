// store_at.
#include "helpers.h"

namespace calotype::test {

TEST(StoreAt, PutsStorageFurtherOut) {
  Schedule s;
  s["by"].split("y", "yo", "yi", 8);
  s["bx"].store_at("by", "yo").compute_at("by", "yi");
  const auto applied = apply(blur(), s);
  EXPECT_EQ(stored(applied, "bx"), "by.yo");
  EXPECT_EQ(computed(applied, "bx"), "by.yi");
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "store_at", "of": "by", "loop": "yo" })",
                  R"(s["bx"].store_at("by", "yo");)");
}

TEST(StoreAt, IsRefusedInsideTheComputation) {
  Schedule s;
  s["bx"].store_at("by", "x").compute_at("by", "y");
  expect_refused(
      blur(), s,
      {"the loop 'x' of by is not around the loop where 'bx' is computed", "#1 store_at(by, x)", "y of by"});
}

TEST(StoreAt, IsRefusedWithoutAPlace) {
  Schedule root, none;
  root["bx"].compute_root().store_at("by", "y");
  expect_refused(blur(), root, {"'bx' is not computed at a loop", "compute_at as well"});
  none["bx"].store_at("by", "y");
  expect_refused(blur(), none, {"'bx' is inlined by default", "#1 store_at(by, y)"});
}

TEST(StoreAt, IsRefusedAcrossAParallelLoop) {
  Schedule s;
  s["by"].parallel("y");
  s["bx"].store_root().compute_at("by", "y");
  expect_refused(blur(), s, {"the parallel loop 'y' stands between", "#2 store_root()", "inside 'y'"});
}

}  // namespace calotype::test
