// ring_buffer.
#include "helpers.h"

namespace calotype::test {

static Schedule hoisted() {
  Schedule s;
  s["by"].serial("y");
  s["bx"].compute_at("by", "y").hoist_storage_root();
  return s;
}

TEST(RingBuffer, IsRecorded) {
  Schedule s = hoisted();
  s["bx"].ring_buffer(3);
  const auto applied = apply(blur(), s);
  EXPECT_EQ(applied.of(applied.graph.find_func("bx")->id).storage.copies, 3);
  EXPECT_NE(to_string(applied).find("  3 copies in turn"), std::string::npos) << to_string(applied);
  EXPECT_TRUE(s.check(blur()).empty());
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "ring_buffer", "copies": 3 })",
                  R"(s["bx"].ring_buffer(3);)");
}

TEST(RingBuffer, IsRefused) {
  Schedule output, twice = hoisted(), unhoisted, one = hoisted();
  output["by"].ring_buffer(2);
  expect_refused(blur(), output, {"'by' is an output"});
  twice["bx"].ring_buffer(2).ring_buffer(3);
  expect_refused(blur(), twice, {"'bx' has its copies already", "one ring_buffer a Func"});
  unhoisted["bx"].compute_at("by", "y").ring_buffer(2);
  expect_refused(blur(), unhoisted,
                 {"the memory of 'bx' is allocated where it is stored", "hoist_storage_root"});
  one["bx"].ring_buffer(1);
  expect_refused(blur(), one, {"1", "2"});
}

}  // namespace calotype::test
