// Regions that loops say little about: what the whole stage ranges over bounds them.

#include "support/run.h"

namespace calotype {
namespace {

#ifdef CALOTYPE_HAS_LLVM

TEST(Regions, OfLoopsFusedAndSplitAndFusedAgain) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W + 2, H}, "in");
  Var x("x"), y("y");
  Func f("f"), out("out");
  f(x, y) = 1;
  f(x, y) = f(x, y) + in(x, y);
  out(x, y) = f(x, y) + f(x + 2, y);
  const Pipeline p("fused", {in}, {Output(out, {W, H})});
  Schedule s;
  s["f"].update().fuse("y", "x", "xy").split("xy", "o", "i", 4).fuse("o", "i", "all");
  for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{17, 5}, {1, 1}})
    testing::expect_matches(p, s, Target::host(), {testing::random_buffer(Int(32), {w + 2, h}, 1)},
                            {Buffer(Int(32), {w, h})}, {{"W", w}});
}

// f(1) is a value, no coordinate: it is not known before f has been computed.
TEST(Regions, OfAnIndexThatIsAValue) {
  Dim W("W"), B("B");
  ImageParam in(Int(32), {W}, "in");
  Var x("x"), b("b");
  RDom r(0, W, "r");
  Func f("f"), g("g"), out("out");
  f(x) = in(clamp(x, 0, W - 1));
  f(x) = max(f(x), in(r));
  g(b) = 0;
  g(clamp(cast<std::int64_t>(f(1)), 0, 3)) += in(r);
  out(b) = g(b);
  const Pipeline p("indexed", {in}, {Output(out, {B})});
  testing::expect_matches(p, Schedule(), Target::host(), {testing::random_buffer(Int(32), {9}, 1)},
                          {Buffer(Int(32), {6})}, {{"B", 6}});
}

#endif  // CALOTYPE_HAS_LLVM

}  // namespace
}  // namespace calotype
