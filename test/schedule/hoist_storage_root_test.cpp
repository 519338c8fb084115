// hoist_storage_root.
#include "helpers.h"

namespace calotype::test {

TEST(HoistStorageRoot, AllocatesOutsideEveryLoop) {
  Schedule s;
  s["by"].serial("y");
  s["bx"].compute_at("by", "y").hoist_storage_root();
  const auto applied = apply(blur(), s);
  EXPECT_EQ(place(applied, applied.of(applied.graph.find_func("bx")->id).hoist), "root");
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "hoist_storage_root" })",
                  R"(s["bx"].hoist_storage_root();)");
}

TEST(HoistStorageRoot, IsRefused) {
  Schedule parallel, output, blocks = tiled();
  parallel["by"].parallel("y");
  parallel["bx"].compute_at("by", "y").hoist_storage_root();
  expect_refused(blur(), parallel,
                 {"the parallel loop 'y' stands between where 'bx' is stored and where it is used"});
  output["by"].hoist_storage_root();
  expect_refused(blur(), output, {"'by' is an output"});
  blocks["bx"].compute_at("by", "xo").hoist_storage_root();
  expect_refused(blur(), blocks, {"stands between where 'bx' is stored and where it is used"}, gpu);
}

}  // namespace calotype::test
