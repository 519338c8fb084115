// compute_with.
#include "helpers.h"

namespace calotype::test {

/// Two outputs from f; b reads it through a, by one row.
static Pipeline pair() {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var x("x"), y("y");
  Func a("a"), b("b");
  RDom k(0, 8, "k");
  a(x, y) = in(x, y) * 2;
  a(x, y) += cast<int>(k);
  b(x, y) = in(x, y) + 1;
  b(x, y) += cast<int>(k) * 3;
  return Pipeline("pair", {in}, {Output(a, {W, H}), Output(b, {W, H})});
}

TEST(ComputeWith, IsRecorded) {
  Schedule s;
  s["b"].update().compute_with(s["a"].update(), "y");
  const auto applied = apply(pair(), s);
  ASSERT_EQ(applied.shared.size(), 1u);
  EXPECT_EQ(applied.shared[0].stage, 1);
  EXPECT_EQ(applied.shared[0].with_stage, 1);
  EXPECT_EQ(applied.shared[0].loops.size(), 1u);
  EXPECT_TRUE(has_line(to_string(applied), "b.update(0) in the loops of a.update(0) down to y  [" +
                                               applied.shared[0].origin + "]"))
      << to_string(applied);
  EXPECT_TRUE(s.check(pair()).empty());
  expect_round_trip(pair(), s);
  expect_spelling(pair(), s,
                  R"-({ "stage": "b.update(0)", "do": "compute_with", "of": "a.update(0)", "loop": "y" })-",
                  R"-(s["b"].update(0).compute_with("a.update(0)", "y");)-");
}

TEST(ComputeWith, SharesTheLoopsThatReferencesMean) {
  Schedule s;
  s["b"].split("y", "yo", "yi", 4);
  s["a"].split("y", "ao", "ai", 4);
  s["b"].compute_with("a.pure", "ai");
  const auto applied = apply(pair(), s);
  ASSERT_EQ(applied.shared.size(), 1u);
  ASSERT_EQ(applied.shared[0].loops.size(), 2u);
  EXPECT_EQ(applied.loop(applied.shared[0].loops[0].first).name, "yo");
  EXPECT_EQ(applied.loop(applied.shared[0].loops[0].second).name, "ao");
  EXPECT_EQ(applied.shared_loop(applied.shared[0].loops[1].first), applied.shared[0].loops[1].second);
}

TEST(ComputeWith, IsRefused) {
  Schedule unknown, self, twice, back, few, kinds, ambiguous, partition;
  unknown["b"].compute_with("a.pure", "z");
  expect_refused(pair(), unknown, {"there is no loop 'z'"});
  self["b"].compute_with("b.update(0)", "y");
  expect_refused(pair(), self, {"stages of one Func", "a stage of another Func"});
  twice["b"].compute_with("a.pure", "y").compute_with("a.pure", "x");
  expect_refused(pair(), twice, {"b shares loops already"});
  back["b"].compute_with("a.pure", "y");
  back["a"].compute_with("b.pure", "y");
  expect_refused(pair(), back, {"runs in the loops of a already"});
  few["a"].split("y", "yo", "yi", 4);
  few["b"].compute_with("a.pure", "x");
  expect_refused(pair(), few, {"'x' is loop 3 of a from the outermost in, but b has 2"});
  kinds["a"].parallel("y");
  kinds["b"].compute_with("a.pure", "y");
  expect_refused(pair(), kinds, {"'y' is serial and 'y' is parallel: they cannot be one loop"});
  ambiguous["b"].compute_with("a", "y");
  expect_refused(pair(), ambiguous, {"found in several stages of a"});
  partition["b"].partition("y", Partition::Never).compute_with("a.pure", "y");
  expect_refused(pair(), partition, {"speaks of a loop that is a part of 'y'"});
}

TEST(ComputeWith, SharesEveryBlockLoop) {
  Schedule s;
  for (const char* stage : {"a", "b"}) s[stage].gpu_blocks("x", "y");
  for (const char* stage : {"a", "b"}) s[stage].update().gpu_blocks("x", "y");
  Schedule some = s, all = s;
  some["b"].compute_with("a.pure", "y");
  expect_refused(pair(), some, {"the block loop 'x' would stand inside", "every block loop shared"}, gpu);
  Schedule bare;
  bare["b"].compute_with("a.pure", "y");
  EXPECT_FALSE(bare.check(pair(), gpu).empty());
  for (const Diagnostic& d : bare.check(pair(), gpu)) EXPECT_NE(d.directive, "") << d.str();
  all["b"].compute_with("a.pure", "x");
  EXPECT_TRUE(all.check(pair(), gpu).empty());
}

TEST(ComputeWith, NeedsOnePlace) {
  Schedule apart, inlined;
  apart["bx"].compute_root();
  apart["by"].compute_with("bx", "y");
  expect_refused(blur(), apart, {"by reads values of bx", "a later iteration of the shared loop 'y'"});
  inlined["bx"].compute_inline();
  inlined["by"].compute_with("bx", "y");
  expect_refused(blur(), inlined, {"'bx' is inlined, so it has no loops to share"});
  for (const char* loop : {"x", "y"}) {
    Schedule circle;
    circle["bx"].compute_at("by", "y");
    circle["by"].compute_with("bx", loop);
    expect_refused(blur(), circle, {"'bx' would be computed inside a loop that itself runs inside 'bx'"});
  }
  Dim N("N");
  ImageParam in(Int(32), {N, N}, "in");
  Var x("x"), y("y");
  Func f("f"), g("g"), out("out");
  f(x, y) = in(x, y) * 2;
  g(x, y) = in(x, y) * 3;
  out(x, y) = f(x, y) - g(x, y);
  Schedule apart_by_place;
  apart_by_place["f"].compute_root();
  apart_by_place["g"].compute_at("out", "y").compute_with("f", "y");
  expect_refused(Pipeline("apart", {in}, {Output(out, {N, N})}), apart_by_place,
                 {"'g' and 'f' are not computed at one place", "both at root"});
}

TEST(ComputeWith, OrdersTheNests) {
  // a.update(0) runs before the nest of a later stage of a, but b's first stage is in that nest.
  Schedule late, crossed;
  late["b"].compute_with("a.update(0)", "y");
  EXPECT_TRUE(late.check(pair()).empty());
  crossed["b"].compute_with("a.update(0)", "y");
  crossed["b"].update().compute_with("a.pure", "y");
  expect_refused(pair(), crossed, {"no order fits the stages that would share loops"});
}

}  // namespace calotype::test
