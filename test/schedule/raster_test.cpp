// raster.
#include "helpers.h"

namespace calotype::test {

TEST(Raster, IsRecorded) {
  Schedule s = tiled();
  s["by"].raster(Grouped{4});
  const auto applied = apply(blur(), s, gpu);
  EXPECT_EQ(applied.of(applied.graph.find_func("by")->id).stages[0].raster_strip, 4);
  EXPECT_TRUE(s.check(blur(), gpu).empty());
  expect_round_trip(blur(), s, gpu);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "raster", "order": "grouped", "by": 4 })",
                  R"(s["by"].raster(Grouped{4});)", gpu);
  Schedule knobs = tiled();
  knobs["by"].raster(Grouped{knobs.knob("STRIP", 8)});
  expect_round_trip(blur(), knobs, gpu);
  expect_spelling(blur(), knobs, R"({ "stage": "by", "do": "raster", "order": "grouped", "by": "STRIP" })",
                  R"(s["by"].raster(Grouped{STRIP});)", gpu);
}

TEST(Raster, IsRefused) {
  Schedule host, twice = tiled(), one;
  host["by"].raster(Grouped{2});
  expect_refused(blur(), host, {"the target host has no blocks", "#1 raster(grouped, 2)"});
  twice["by"].raster(Grouped{2}).raster(Grouped{3});
  expect_refused(blur(), twice, {"the tiles have their order already, by", "one raster a stage"}, gpu);
  one["by"].gpu_blocks("y").raster(Grouped{2});
  expect_refused(blur(), one, {"one of the loops of by is bound to blocks", "gpu_blocks over two"}, gpu);
}

}  // namespace calotype::test
