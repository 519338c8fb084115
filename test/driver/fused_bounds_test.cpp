// What is computed inside fused loops of any extents has bounds: the loops that were fused range over all of
// theirs where the fused one's iteration does not say more.

#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;
using testing::targets;

/// How often f(r), or f(s), which reads g, has each value modulo 16, over a domain of free sizes.
Pipeline counted(int read) {
  Dim R("R"), S("S");
  ImageParam in(Int(32), {R, S}, "in");
  Var x("x"), b("b");
  RDom r({{0, R}, {0, S}}, {"r", "s"});
  Func edged = boundary::repeat_edge(in, "edged"), g("g"), f("f"), counts("counts"), out("out");
  g(x) = edged(x, x / 2) * 3 + 1;
  f(x) = g(x) + g(x + 1);
  counts(b) = 0;
  counts(clamp(cast<std::int64_t>(f(r[read] + read)) % 16, 0, 15)) += 1;
  out(b) = counts(b);
  return Pipeline("counted", {in}, {Output(out, {16})});
}

TEST(FusedBounds, OfReductionLoopsOfFreeExtents) {
  for (const Target& target : targets())
    for (const bool split : {false, true})
      for (const int variant : {0, 1, 2, 3}) {
        const bool swapped = variant % 2 == 1;
        const Pipeline p = counted(variant / 2);
        Schedule s;
        s["g"].compute_root();
        if (swapped) s["counts"].update().reorder("s", "r");
        s["counts"].update().fuse(swapped ? "s" : "r", swapped ? "r" : "s", "t");
        if (split) s["counts"].update().split("t", "to", "ti", 3);
        s["f"].compute_at(s["counts"].update(), split ? "ti" : "t");
        for (const auto& [w, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 3}, {1, 7}, {4, 1}}) {
          const Buffer in = random_buffer(Int(32), {w, h}, 6);
          testing::expect_matches(p, s, target, {in}, {Buffer(Int(32), {16})});
          testing::expect_stages_match(p, s, target, {in});
        }
      }
}

/// The extents of what is fused are no plain sizes.
TEST(FusedBounds, OfExtentsThatAreSums) {
  Dim N("N"), K("K");
  ImageParam in(Int(32), {N, K}, "in");
  Var x("x");
  RDom r({{0, K - 1}, {0, K / 2}}, {"r", "s"});
  Func g("g"), f("f"), total("total"), out("out");
  g(x) = in(0, clamp(x, 0, K - 1)) - 2;
  f(x) = g(x) * 5 + x;
  total() = 0;
  total() += cast<int>(f(r[0] + r[1]));
  out(x) = total() + in(x, 0);
  const Pipeline p("sums", {in}, {Output(out, {N})});
  for (const Target& target : targets()) {
    Schedule s;
    s["g"].compute_root();
    s["total"].compute_root();
    s["total"].update().fuse("r", "s", "t");
    s["f"].compute_at(s["total"].update(), "t");
    for (std::int64_t k : {1, 2, 3, 8}) {
      const Buffer data = random_buffer(Int(32), {3, k}, 7);
      testing::expect_matches(p, s, target, {data}, {Buffer(Int(32), {3})});
    }
  }
}

}  // namespace
}  // namespace calotype
