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

// Where the condition fails the ends of the region have passed each other: nothing is stored, and no room for
// less than nothing is asked for.
TEST(Regions, ThatAConditionLeavesEmpty) {
  Dim W("W");
  ImageParam in(Int(32), {W, W, W}, "in");
  Var x("x"), y("y"), z("z");
  RDom r(0, W, "r");
  r.where(r == x);
  Func f("f"), g("g");
  f(x, y, z) = in(x, y, z) * 2;
  g(x) = 1;
  g(x) = g(x) + f(x, r, x);
  const Pipeline p("diagonal", {in}, {Output(g, {W})});
  Schedule s;
  s["f"].compute_at("g.update(0)", "r");
  testing::expect_matches(p, s, Target::host(), {testing::random_buffer(Int(32), {5, 5, 5}, 1)},
                          {Buffer(Int(32), {5})});
}

// One point of f is needed, so every lane but one is masked and the index is the same in all.
TEST(Regions, OfOnePointUnderAVector) {
  Dim W("W");
  ImageParam in(Float(32), {W}, "in");
  Var x("x");
  RDom r(0, W, "r");
  Func f("f"), out("out");
  f(x) = in(clamp(x, 0, W - 1));
  f(x) = max(f(x), in(r));
  out(x) = f(1) + cast<float>(x);
  const Pipeline p("point", {in}, {Output(out, {W})});
  testing::expect_matches(p, Schedule(), Target::host(), {testing::random_buffer(Float(32), {9}, 1)},
                          {Buffer(Float(32), {9})});
  Schedule gpu;
  gpu["f"].vectorize("x", 4).gpu_blocks("x.o");
  testing::expect_matches(p, gpu, Target::interpreter(), {testing::random_buffer(Float(32), {9}, 1)},
                          {Buffer(Float(32), {9})});
}

// Once f is a part of out nothing reads g: its values were coordinates that f does not use.
TEST(Regions, OfAFuncThatNothingReads) {
  Dim W("W");
  ImageParam in(Int(32), {W}, "in");
  Var x("x"), y("y");
  RDom r(0, W, "r");
  Func f("f"), g("g"), out("out");
  g(x) = 0;
  g(x) += in(r);
  f(x, y) = x * 3;
  out(x) = cast<std::int32_t>(f(x, clamp(cast<std::int64_t>(g(x)), 0, 3))) + in(x);
  const Pipeline p("unread", {in}, {Output(out, {W})});
  for (const Target& target : {Target::host(), Target::interpreter()})
    testing::expect_matches(p, Schedule(), target, {testing::random_buffer(Int(32), {9}, 1)},
                            {Buffer(Int(32), {9})});
}

#endif  // CALOTYPE_HAS_LLVM

// With W = 1 the scan has no step: f has no elements, and its kernels run over none.
TEST(Regions, WithoutElementsOnAGpu) {
  Dim W("W");
  ImageParam in(Int(32), {W}, "in");
  Var x("x"), y("y");
  RDom r(1, W - 1, "r");
  Func f("f"), g("g"), out("out");
  f(x, y) = in(x);
  f(x, 2) = 1;
  g(x) = in(x);
  g(r) = g(r - 1) + f(r, 1);
  out(x) = g(x);
  const Pipeline p("scan", {in}, {Output(out, {W})});
  Schedule s;
  s["f"].gpu_blocks("y");
  for (const std::int64_t size : {1, 5})
    testing::expect_matches(p, s, Target::interpreter(), {testing::random_buffer(Int(32), {size}, 1)},
                            {Buffer(Int(32), {size})});
}

// A value is clamped before its upper half is dropped for 32-bit indices.
TEST(Regions, OfAWideValueThatIsClamped) {
  Dim W("W");
  ImageParam in(Int(32), {W}, "in");
  Var x("x");
  Func f("f");
  const Expr wide = cast<std::int64_t>(in(x)) * 4294967296 + 1;
  f(x) = in(clamp(wide, 0, W - 1));
  const Pipeline p("clamped", {in}, {Output(f, {W})});
  testing::expect_matches(p, Schedule(), Target::interpreter(), {testing::random_buffer(Int(32), {19}, 1)},
                          {Buffer(Int(32), {19})});
}

// That an iteration happens says how much room its region has.
TEST(Regions, AreWholeWithinGuards) {
  Dim N("N");
  ImageParam in(Float(32), {N}, "in");
  Var x("x");
  Func f("f"), out("out");
  f(x) = in(x) * 2;
  out(x) = f(x) + 1;
  const Pipeline p("strips", {in}, {Output(out, {N})});
  Schedule s;
  s.assume("N", Assumption::multiple(64));
  s["out"].compute_root().split("x", "strip", "xi", 64).split("strip", "lap", "place", 7);
  s["out"].reorder("xi", "lap", "place").gpu_blocks("place").gpu_threads("xi");
  s["f"].compute_at("out", "lap").store_in(Memory::Shared).gpu_threads("x");
  const Target target = Target::interpreter("sm_90a");
  const std::string text = p.compile(s, target).show("lowered");
  EXPECT_EQ(text.find("min("), std::string::npos) << text;
  for (const std::int64_t n : {0, 64, 448, 512, 960})
    testing::expect_matches(p, s, target, {testing::random_buffer(Float(32), {n}, 3)},
                            {Buffer(Float(32), {n})});
}

}  // namespace
}  // namespace calotype
