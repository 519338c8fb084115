// stream_stores.
#include "helpers.h"

namespace calotype::test {

TEST(StreamStores, IsRecorded) {
  Schedule s;
  s["by"].stream_stores();
  const auto applied = apply(blur(), s);
  EXPECT_TRUE(applied.of(applied.graph.find_func("by")->id).storage.stream_stores);
  EXPECT_TRUE(has_line(schedule::to_string(applied), "  stores pass the caches by"));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "stream_stores" })", R"(s["by"].stream_stores();)");
}

TEST(StreamStores, IsRefused) {
  Schedule twice, inside;
  inside["by"].gpu_blocks("x", "y");
  inside["bx"].compute_at("by", "x").store_in(Memory::Shared).stream_stores();
  expect_refused(blur(), inside, {"'bx' is computed inside a kernel and not in global memory"}, gpu);
  twice["by"].stream_stores().stream_stores();
  expect_refused(blur(), twice, {"the stores of 'by' do so already"});
}

}  // namespace calotype::test
