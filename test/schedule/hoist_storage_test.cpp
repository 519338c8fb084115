// hoist_storage.
#include "helpers.h"

namespace calotype::test {

TEST(HoistStorage, AllocatesFurtherOut) {
  Schedule s;
  s["by"].split("y", "yo", "yi", 8).serial("yo");
  s["bx"].compute_at("by", "yi").hoist_storage("by", "yo");
  const auto applied = apply(blur(), s);
  const auto& bx = applied.of(applied.graph.find_func("bx")->id);
  EXPECT_EQ(place(applied, bx.hoist), "by.yo");
  EXPECT_EQ(place(applied, bx.store), "by.yi");
  EXPECT_TRUE(has_line(schedule::to_string(applied), "  allocated at yo of by  [#4 hoist_storage(by, yo)]"));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "hoist_storage", "of": "by", "loop": "yo" })",
                  R"(s["bx"].hoist_storage("by", "yo");)");
}

TEST(HoistStorage, IsRefused) {
  Schedule at_root, twice, parallel, inside, stored_at_root, stored_outside, unknown, output;
  at_root["bx"].compute_root().hoist_storage("by", "y");
  expect_refused(blur(), at_root, {"'bx' is not computed at a loop"});
  twice["by"].serial("y");
  twice["bx"].compute_at("by", "x").hoist_storage("by", "y").hoist_storage_root();
  expect_refused(blur(), twice, {"the memory of 'bx' is hoisted already, by #3 hoist_storage(by, y)"});
  parallel["by"].split("y", "yo", "yi", 8).parallel("yi");
  parallel["bx"].compute_at("by", "yi").hoist_storage("by", "yo");
  expect_refused(blur(), parallel,
                 {"the parallel loop 'yi' stands between where 'bx' is stored and where it is used"});
  inside["by"].serial("y");
  inside["bx"].compute_at("by", "y").hoist_storage("by", "x");
  expect_refused(blur(), inside, {"the loop 'x' of by is not around the loop where 'bx' is used"});
  // What is kept from one row to the next cannot lie in the memory of a row.
  stored_at_root["by"].serial("y");
  stored_at_root["bx"].store_root().compute_at("by", "x").hoist_storage("by", "y");
  expect_refused(
      blur(), stored_at_root,
      {"'bx' is stored outside every loop, so its memory cannot be that of an iteration of 'y' of by",
       "hoist_storage_root, or store_at a loop inside 'y'"});
  stored_outside["by"].split("y", "yo", "yi", 8).serial("yo");
  stored_outside["bx"].store_at("by", "yo").compute_at("by", "x").hoist_storage("by", "yi");
  expect_refused(blur(), stored_outside, {"the loop 'yi' of by is not around the loop where 'bx' is used"});
  unknown["bx"].compute_at("by", "y").hoist_storage("by", "z");
  expect_refused(blur(), unknown, {"there is no loop 'z' in by"});
  output["by"].hoist_storage("by", "y");
  expect_refused(blur(), output, {"'by' is an output"});
}

}  // namespace calotype::test
