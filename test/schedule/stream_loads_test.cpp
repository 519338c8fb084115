// stream_loads.
#include "helpers.h"

namespace calotype::test {

TEST(StreamLoads, IsRecorded) {
  Schedule s;
  s["bx"].compute_root();
  s.stream_loads("image");
  s.stream_loads("bx");
  const auto applied = apply(blur(), s);
  EXPECT_TRUE(applied.of(applied.graph.find_func("bx")->id).storage.stream_loads);
  EXPECT_EQ(applied.streamed_inputs.size(), 1u);
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "do": "stream_loads", "of": "image" })", R"(s.stream_loads("image");)");
}

TEST(StreamLoads, IsRefused) {
  Schedule twice, unknown, inlined, inside;
  inside["by"].gpu_blocks("x", "y");
  inside["bx"].compute_at("by", "x").store_in(Memory::Shared);
  inside.stream_loads("bx");
  expect_refused(blur(), inside, {"'bx' is computed inside a kernel and not in global memory"}, gpu);
  twice.stream_loads("image");
  twice.stream_loads("image");
  expect_refused(blur(), twice, {"the loads of 'image' do so already"});
  unknown.stream_loads("picture");
  expect_refused(blur(), unknown, {"there is no Func or input 'picture'"});
  inlined["bx"].compute_inline();
  inlined.stream_loads("bx");
  expect_refused(blur(), inlined, {"'bx' is inlined"});
}

}  // namespace calotype::test
