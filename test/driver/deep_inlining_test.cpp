// Many Funcs inlined into each other: time and code go with the points that are distinct, and what would be
// too large is refused.

#include <chrono>

#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::targets;

/// Each Func reads two neighbours of the one before, at x and x + `step`, or at 2 * x and 2 * x + 1.
Pipeline pyramid(int levels, int step, bool doubling = false) {
  Dim W("W");
  ImageParam in(Int(32), {W}, "in");
  Var x("x");
  Func last = boundary::repeat_edge(in, "edged");
  for (int i = 0; i < levels; ++i) {
    Func next("level" + std::to_string(i));
    if (doubling)
      next(x) = last(2 * x) * 3 + last(2 * x + 1);
    else
      next(x) = last(x) * 3 + last(x + step) + last(x) / 2;
    last = next;
  }
  Func out("out");
  out(x) = last(x);
  return Pipeline("pyramid", {in}, {Output(out, {W})});
}

Schedule inlined(int levels) {
  Schedule s;
  s["edged"].compute_root();
  for (int i = 0; i < levels; ++i) s["level" + std::to_string(i)].compute_inline();
  return s;
}

TEST(DeepInlining, TakesTheTimeOfDistinctPoints) {
  constexpr int levels = 24;
  for (const Target& target : targets())
    for (int step : {1, -1}) {
      const Pipeline p = pyramid(levels, step);
      const auto start = std::chrono::steady_clock::now();
      const Kernel kernel = p.compile(inlined(levels), target);
      const std::string text = kernel.show("lowered") + kernel.show("bounds");
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
      // Two to the 24 paths would take hours; a slow machine takes some seconds for 300 points.
      EXPECT_LT(seconds.count(), 60) << target.str();
      EXPECT_LT(text.size(), 3u << 20);
      testing::expect_matches(p, inlined(levels), target, {random_buffer(Int(32), {53}, 3)},
                              {Buffer(Int(32), {53})});
    }
}

TEST(DeepInlining, IsRefusedBeyondALimit) {
  const Target target = targets().front();
  const std::vector<Diagnostic> found = inlined(20).check(pyramid(20, 1, true), target);
  ASSERT_EQ(found.size(), 1u);
  for (const char* part : {"with what is inlined into it, 'level", "operations", "compute_inline",
                           "at most 100000: compute_root, or compute_at, of a Func that it is made of"})
    EXPECT_NE(found[0].str().find(part), std::string::npos) << found[0].str();
  testing::expect_matches(pyramid(7, 1, true), inlined(7), target, {random_buffer(Int(32), {5}, 3)},
                          {Buffer(Int(32), {5})});
}

TEST(DeepInlining, UnrolledLoopsOfANestHaveOneLimit) {
  Dim W("W"), H("H");
  ImageParam in(Int(32), {W, H}, "in");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = in(x, y) * 3 + 1;
  const Pipeline p("copies", {in}, {Output(out, {W, H})});
  for (const Target& target : targets()) {
    const auto tiles = [&](int across, int down) {
      Schedule s;
      s["out"].tile("x", "y", "xo", "yo", "xi", "yi", across, down).unroll("xi").unroll("yi");
      if (target.is_gpu()) s["out"].gpu_blocks("xo", "yo");
      return s;
    };
    const std::vector<Diagnostic> found = tiles(64, 64).check(p, target);
    ASSERT_EQ(found.size(), 1u);
    for (const char* part :
         {"the body would be written 4096 times, by the unrolled loops 'yi' of 64 and 'xi' of 64",
          "at most 1024 copies"})
      EXPECT_NE(found[0].str().find(part), std::string::npos) << found[0].str();
    testing::expect_matches(p, tiles(32, 4), target, {random_buffer(Int(32), {37, 9}, 4)},
                            {Buffer(Int(32), {37, 9})});
  }
}

}  // namespace
}  // namespace calotype
