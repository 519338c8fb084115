// swizzle.
#include "helpers.h"

namespace calotype::test {

/// bx in tiles of 32 x 10 in shared memory.
static Schedule shared_rows() {
  Schedule s = tiled();
  s["bx"].compute_at("by", "xo").store_in(Memory::Shared);
  return s;
}

TEST(Swizzle, IsRecorded) {
  Schedule s = shared_rows();
  s["bx"].swizzle(128);
  const auto applied = apply(blur(), s, gpu);
  EXPECT_EQ(applied.of(applied.graph.find_func("bx")->id).storage.swizzle, 128);
  EXPECT_NE(to_string(applied).find("  swizzled in rows of 128 bytes  ["), std::string::npos);
  EXPECT_TRUE(s.check(blur(), gpu).empty());
  expect_round_trip(blur(), s, gpu);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "swizzle", "bytes": 128 })",
                  R"(s["bx"].swizzle(128);)", gpu);
}

TEST(Swizzle, IsRefused) {
  Schedule host, output, odd = shared_rows(), twice = shared_rows(), narrow = shared_rows(),
                         wide = shared_rows(), padded = shared_rows(), thread = tiled();
  host["bx"].compute_root().swizzle(128);
  expect_refused(blur(), host, {"has no memory in banks", "cuda"});
  output["by"].swizzle(128);
  expect_refused(blur(), output, {"'by' is an output"}, gpu);
  odd["bx"].swizzle(96);
  expect_refused(blur(), odd, {"no swizzle of rows of 96 bytes", "32, 64 or 128"}, gpu);
  twice["bx"].swizzle(128).swizzle(128);
  expect_refused(blur(), twice, {"is swizzled already", "one swizzle a Func"}, gpu);
  narrow["bx"].swizzle(64);
  expect_refused(blur(), narrow, {"rows of 'bx' in memory take 128 bytes", "swizzle(128)"}, gpu);
  padded["bx"].pad("x", 1).swizzle(128);
  expect_refused(blur(), padded, {"take 132 bytes", "innermost part takes 32 elements"}, gpu);
  wide["bx"].pad("x", 32).layout({"x % 32", "y", "x / 32"}).swizzle(128);
  EXPECT_FALSE(wide.check(blur(), gpu).empty());  // a layout has strides of its own
  thread["bx"].compute_at("by", "xi").swizzle(128);
  expect_refused(blur(), thread, {"'bx' is in local memory, which has no banks", "store_in(shared)"}, gpu);
}

TEST(Swizzle, OfPartsOfRows) {
  Schedule s = tiled();
  s["bx"].compute_at("by", "xo").store_in(Memory::Shared).layout({"x % 8", "y", "x / 8"}).swizzle(32);
  EXPECT_TRUE(s.check(blur(), gpu).empty());
}

}  // namespace calotype::test
