// Random tiles as boxes: whatever is not refused has the values of the reference, with no finding of the
// interpreter.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <random>

#include "calotype/calotype.h"
#include "support/run.h"
#include "support/tensors.h"

namespace calotype {
namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::int64_t within(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return within(1, 100) <= percent; }
  template <class T>
  T pick(std::vector<T> all) {
    return all[static_cast<std::size_t>(within(0, static_cast<std::int64_t>(all.size()) - 1))];
  }

 private:
  std::mt19937 random_;
};

/// out(x, y, z) = the sum of elements of in near (x, y, z), which is larger at each end.
struct Near {
  std::int64_t step = 1, first = 0;
  std::vector<std::array<std::int64_t, 3>> offsets;
  bool of_func = false;

  explicit Near(Draw& d) {
    first = d.pick<std::int64_t>({0, 0, 0, 16, 16, 4, 1});
    if (d.chance(20)) step = 2;
    of_func = d.chance(25);
    for (std::int64_t i = d.within(1, 3); i > 0; --i)
      offsets.push_back({first + (offsets.empty() ? 0 : d.within(0, 2)), d.within(0, 2), d.within(0, 1)});
  }
  Pipeline pipeline(Type type) const {
    Dim W("W"), H("H"), D("D");
    ImageParam in(type, {W + 24, step * H + 4, D + 2}, "in");
    Var x("x"), y("y"), z("z");
    Func g("g"), out("out");
    if (of_func) g(x, y, z) = in(x, y, z) + in(x, y, z);
    Expr sum;
    for (const auto& [i, j, k] : offsets) {
      const Expr c[] = {x + i, y * step + j, z + k};
      const Expr read = of_func ? Expr(g(c[0], c[1], c[2])) : in(c[0], c[1], c[2]);
      sum = sum.defined() ? sum + read : read;
    }
    out(x, y, z) = sum;
    return Pipeline("near", {in}, {Output(out, {W, H, D})});
  }
};

/// A box for each of the tiles of x, or of z, that a block has.
Schedule tiles(Draw& d, const Near& near, Type type) {
  Schedule s;
  const std::int64_t width = d.pick<std::int64_t>({8, 16, 16, 32, 32, 64, 33});
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", width, d.pick<std::int64_t>({1, 2, 3, 8}));
  const bool over_x = d.chance(50), wide = d.chance(30);
  const std::string at = over_x ? "xo" : wide ? "zo" : "z";
  if (over_x) {
    s["out"].reorder("xi", "yi", "xo", "yo", "z").gpu_blocks("yo", "z");
  } else {
    s["out"].reorder("xi", "yi", "z", "xo", "yo").gpu_blocks("xo", "yo");
    if (wide) s["out"].split("z", "zo", "zi", 2).reorder("xi", "yi", "zi", "zo");
  }
  s["out"].gpu_threads("xi", d.pick<std::int64_t>({4, 8, 32}));
  if (near.of_func) {
    s["g"].compute_root().gpu_threads("x", 32).gpu_blocks("y", "z");
    s["g"].align_storage("x", 16 / type.bytes());
  }
  Stage copy = s.in(near.of_func ? "g" : "in", {"out"});
  copy.compute_at("out", at).store_in(Memory::Shared).copy(Copy::Tma);
  const std::string y = near.of_func ? "y" : "d1", x = near.of_func ? "x" : "d0",
                    z = near.of_func ? "z" : "d2";
  if (d.chance(25)) copy.align_storage(x, d.pick<std::int64_t>({8, 16, 32}));
  if (d.chance(25)) copy.swizzle(d.pick<std::int64_t>({32, 64, 128}));
  if (d.chance(20)) copy.split(y, "part", "row", d.within(1, 4));
  if (d.chance(15)) copy.split(x, "piece", "own", d.pick<std::int64_t>({4, 8, 16}));
  if (d.chance(10)) copy.reorder(z, x);
  if (d.chance(10)) copy.reorder_storage(std::vector<LoopName>{x, z, y});
  if (d.chance(60)) s["out"].pipeline(at, d.within(2, 4));
  return s;
}

TEST(TensorCopies, OfRandomTiles) {
  const int draws = std::getenv("CALOTYPE_TEST_DRAWS") ? std::atoi(std::getenv("CALOTYPE_TEST_DRAWS")) : 150;
  int ran = 0;
  for (int seed = 0; seed < draws; ++seed) {
    Draw d(static_cast<unsigned>(seed));
    const Type type = d.pick<Type>({UInt(8), Int(16), BFloat(16), Int(32), Float(32), Float(64)});
    const Near near(d);
    const Schedule s = tiles(d, near, type);
    if (!s.check(near.pipeline(type), Target::interpreter("sm_90a")).empty()) continue;
    ++ran;
    for (int run = 0; run < 2; ++run) {
      const std::int64_t w = d.within(1, 70), h = d.within(1, 9), deep = d.within(1, 4);
      SCOPED_TRACE(fmt::format("seed {}, {} x {} x {} of {}", seed, w, h, deep, type.str()));
      testing::expect_matches(
          near.pipeline(type), s, Target::interpreter("sm_90a"),
          {testing::tensor_of(testing::random_buffer(type, {w + 24, near.step * h + 4, deep + 2}, seed))},
          {Buffer(type, {w, h, deep})}, {{"W", w}, {"H", h}, {"D", deep}});
    }
  }
  EXPECT_GE(ran, draws / 5);
}

}  // namespace
}  // namespace calotype
