// Stages that a function computes, as lowering leaves them.

#include "lower/levels.h"
#include "support/externs.h"

namespace calotype::test {
namespace {

/// out(x, y) = sums(x, y) + 1, sums = three neighbours of in * 3 along x, by a function.
Pipeline stencil() {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W + 2, H}, "in");
  Var x("x"), y("y");
  Func g("g"), sums("sums"), out("out");
  g(x, y) = in(x, y) * 3;
  sums.define_extern({x, y}, {Int(32)}, {"sum_of_three", testing::sum_of_three},
                     {g(x, y), g(x + 1, y), g(x + 2, y)}, {H});
  out(x, y) = sums(x, y) + 1;
  return Pipeline("stencil", {in}, {{out, {W, H}}});
}

TEST(LoweredExtern, IsOneStatementWithTheBoxes) {
  Schedule s;
  s["out"].serial("y");
  s["sums"].compute_at("out", "y");
  s["g"].compute_at("out", "y");
  EXPECT_NE(body(stencil(), s)
                .find("extern sums = sum_of_three(sums [0, +W) x [y, +1); g [0, +W + 2) x [y, +1); H)"),
            std::string::npos)
      << body(stencil(), s);
}

TEST(LoweredExtern, TheTreeTellsItsRegions) {
  Schedule s;
  s["out"].serial("y");
  s["sums"].compute_at("out", "y");
  EXPECT_NE(
      level(stencil(), s, "loops")
          .find("sums over [0, W - 1] x [y, y]: extern sum_of_three(g(x, y), g(x + 1, y), g(x + 2, y); H), "
                "g [0, W + 1] x [y, y]"),
      std::string::npos)
      << level(stencil(), s, "loops");
}

TEST(LoweredExtern, NoRingIsMadeOfWhatAFunctionIsGiven) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W + 2, H + 2}, "in");
  Var x("x"), y("y");
  Func g("g"), sums("sums"), out("out");
  g(x, y) = in(x, y) * 3;
  sums.define_extern({x, y}, {Int(32)}, {"sum_of_three", testing::sum_of_three},
                     {g(x, y), g(x + 2, y), g(x, y + 1)});
  out(x, y) = sums(x, y) + sums(x, y + 1);
  const Pipeline p("windows", {in}, {{out, {W, H}}});
  Schedule s;
  s["out"].serial("y");
  s["sums"].compute_at("out", "y").store_root();
  s["g"].compute_at("out", "y").store_root();
  const std::string tree = level(p, s, "loops");
  EXPECT_EQ(tree.find("a ring"), std::string::npos) << tree;
  EXPECT_NE(tree.find("select("), std::string::npos) << tree;  // the windows slide all the same
}

}  // namespace
}  // namespace calotype::test
