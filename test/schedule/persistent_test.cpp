// persistent.
#include "helpers.h"

namespace calotype::test {

TEST(Persistent, IsRecorded) {
  Schedule s = tiled();
  s["by"].persistent();
  const auto applied = apply(blur(), s, gpu);
  const auto& stage = applied.of(applied.graph.find_func("by")->id).stages[0];
  EXPECT_NE(stage.persistent_origin.find("persistent()"), std::string::npos);
  EXPECT_TRUE(s.check(blur(), gpu).empty());
  expect_round_trip(blur(), s, gpu);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "persistent" })", R"(s["by"].persistent();)", gpu);
}

TEST(Persistent, IsRefused) {
  Schedule host, twice = tiled(), inside = tiled(), shared;
  host["by"].persistent();
  expect_refused(blur(), host, {"the target host has no blocks", "cuda", "#1 persistent()"});
  twice["by"].persistent().persistent();
  expect_refused(blur(), twice, {"the blocks take several tiles already", "once"}, gpu);
  inside["bx"].compute_at("by", "xo").persistent();
  expect_refused(blur(), inside, {"none of the loops of bx is bound to blocks", "gpu_blocks over one"}, gpu);
  shared = tiled();
  shared["bx"].compute_root().gpu_blocks("y");
  shared["by"].persistent();
  EXPECT_TRUE(shared.check(blur(), gpu).empty());
}

}  // namespace calotype::test
