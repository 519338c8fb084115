// trace.

#include "helpers.h"

namespace calotype::test {
namespace {

TEST(Trace, IsRecorded) {
  Schedule s;
  s["bx"].compute_root();
  s.trace("bx");
  s.trace("image", {Trace::Loads});
  const auto applied = apply(blur(), s);
  ASSERT_EQ(applied.traced.size(), 2u);
  EXPECT_EQ(applied.traced[0].of, "bx");
  EXPECT_TRUE(applied.traced[0].stores);
  EXPECT_TRUE(applied.traced[0].productions);
  EXPECT_FALSE(applied.traced[0].loads);
  EXPECT_TRUE(applied.traced[1].loads);
  EXPECT_FALSE(applied.traced[1].stores);
  expect_round_trip(blur(), s);
  expect_round_trip(blur(), s, gpu);
  Schedule one;
  one["bx"].compute_root();
  one.trace("bx", {Trace::Loads, Trace::Stores});
  expect_spelling(blur(), one, R"j({ "do": "trace", "of": "bx", "what": ["loads", "stores"] })j",
                  R"(s.trace("bx", {Trace::Loads, Trace::Stores});)");
}

TEST(Trace, LeavesLoopsAsTheyAre) {
  Schedule plain, s;
  plain["bx"].compute_root();
  s["bx"].compute_root();
  s.trace("bx");
  s.trace("by", {Trace::Loads, Trace::Stores, Trace::Productions});
  EXPECT_EQ(loops(apply(blur(), s), "by"), loops(apply(blur(), plain), "by"));
  EXPECT_EQ(loops(apply(blur(), s), "bx"), loops(apply(blur(), plain), "bx"));
}

TEST(Trace, IsRefused) {
  Schedule input, unknown, twice, inlined, nothing, atomic;
  input.trace("image");
  expect_refused(blur(), input, {"'image' is an input", "loads"});
  unknown.trace("bz");
  expect_refused(blur(), unknown, {"there is no Func or input 'bz'", "did you mean"});
  twice["bx"].compute_root();
  twice.trace("bx");
  twice.trace("bx", {Trace::Loads});
  expect_refused(blur(), twice, {"'bx' is traced already, by #2 trace(bx, stores, productions)"});
  inlined["bx"].compute_inline();
  inlined.trace("bx");
  expect_refused(blur(), inlined, {"'bx' is inlined by #1 compute_inline()", "#2 trace(bx"});
  nothing.trace("by", {});
  expect_refused(blur(), nothing, {"'what' has 0 elements"});
  atomic["hist"].update().atomic().parallel("r.y");
  atomic.trace("hist", {Trace::Stores});
  expect_refused(histogram(), atomic, {"updates of 'hist' are one step each", "of which no thread sees"});
}

}  // namespace
}  // namespace calotype::test
