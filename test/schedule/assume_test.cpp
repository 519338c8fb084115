// assume.
#include "calotype/size_range.h"
#include "helpers.h"
#include "ir/simplify.h"

namespace calotype::test {

TEST(Assume, AnExactSizeIsAConstant) {
  Schedule s;
  s["acc"].update().unroll("k");
  s.assume("K", Assumption::exact(4));  // wherever it stands
  const auto applied = apply(matmul(), s);
  const lang::FuncDef& acc = *applied.graph.find_func("acc");
  EXPECT_EQ(ir::as_int(acc.stages[1].reduction[0].extent), 4);
  EXPECT_EQ(ir::as_int(applied.graph.inputs[0].extents[0]), 4);
  EXPECT_FALSE(ir::as_int(applied.graph.inputs[0].extents[1]));
  expect_round_trip(matmul(), s);
  expect_spelling(matmul(), s, R"({ "do": "assume", "size": "K", "exact": 4 })",
                  R"(s.assume("K", Assumption::exact(4));)");
}

TEST(Assume, RangesAndMultiplesHoldTogether) {
  Schedule s;
  const Knob most = s.knob("MOST", 128);
  s.assume("W", Assumption::range(64, most)).assume("W", Assumption::multiple(16));
  s.assume("H", Assumption::at_least(8));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "do": "assume", "size": "W", "min": 64, "max": "MOST" })",
                  R"(s.assume("W", Assumption::range(64, MOST));)");
  expect_spelling(blur(), s, R"({ "do": "assume", "size": "W", "multiple": 16 })",
                  R"(s.assume("W", Assumption::multiple(16));)");
  expect_spelling(blur(), s, R"({ "do": "assume", "size": "H", "min": 8 })",
                  R"(s.assume("H", Assumption::at_least(8));)");
}

TEST(Assume, TwoThatLeaveOneValueMakeAConstant) {
  Schedule s;
  s.assume("W", Assumption::range(9, 16)).assume("W", Assumption::multiple(16));
  s["by"].vectorize("x");
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"x:vector", "y"}));
}

TEST(Assume, IsRefused) {
  Schedule unknown, none, zero, backwards, apart, much;
  unknown.assume("V", Assumption::exact(4));
  expect_refused(blur(), unknown, {"the algorithm has no size 'V'", "#1 assume(V, 4)", "sizes: W, H"});
  zero.assume("W", Assumption::exact(0));
  expect_refused(blur(), zero, {"'exact' is out of range"});
  backwards.assume("W", Assumption::range(8, 4));
  expect_refused(blur(), backwards, {"no value of 'W' is allowed", "8 to 4"});
  apart.assume("W", Assumption::range(1, 4)).assume("W", Assumption::multiple(8));
  expect_refused(blur(), apart, {"no value of 'W' is allowed", "#2 assume(W, 8)"});
  none.append({.name = "assume", .args = {{"size", "W"}}});
  expect_refused(blur(), none, {"nothing is said of 'W'", "exact, min, max or multiple"});
  much.append({.name = "assume", .args = {{"size", "W"}, {"exact", 4}, {"min", 2}}});
  expect_refused(blur(), much, {"an exact value leaves nothing else to say"});
}

TEST(SizeRange, ContainsCountsAndSpells) {
  const SizeRange any{"W"}, some{"W", 5, 40, 8}, one{"W", 9, 16, 16}, more{"W", 3};
  EXPECT_TRUE(any.contains(0) && any.contains(INT64_MAX));
  EXPECT_TRUE(some.contains(8) && some.contains(40));
  EXPECT_FALSE(some.contains(0) || some.contains(5) || some.contains(41) || some.contains(48));
  EXPECT_EQ(some.count(), 5);
  EXPECT_EQ(one.exact(), 16);
  EXPECT_EQ(any.count(), std::nullopt);
  EXPECT_EQ((SizeRange{"W", 5, 4}).count(), 0);
  EXPECT_EQ(any.str(), "any");
  EXPECT_EQ(some.str(), "multiples of 8 from 5 to 40");
  EXPECT_EQ(one.str(), "16");
  EXPECT_EQ(more.str(), "3 or more");
  EXPECT_EQ((SizeRange{"W", 3, 7}).str(), "3 to 7");
  EXPECT_EQ((SizeRange{"W", 0, {}, 8}).str(), "multiples of 8");
  EXPECT_EQ(intersect(some, {"W", 10, {}, 12}), (SizeRange{"W", 10, 40, 24}));
  EXPECT_FALSE(intersect({"W", 0, {}, INT64_MAX}, {"W", 0, {}, INT64_MAX - 1}).contains(INT64_MAX));
}

}  // namespace calotype::test
