// Coordinates that 32 bits do not hold: computed by the algorithm, or far from 0.

#include "support/run.h"

namespace calotype {
namespace {

using testing::targets;

/// Schedules under which indices of kernels are narrowed in different places.
std::vector<Schedule> schedules(const Target& target) {
  std::vector<Schedule> all(1);
  if (target.is_gpu()) {
    all.emplace_back()["out"]
        .tile("x", "y", "xo", "yo", "xi", "yi", 8, 4)
        .gpu_blocks("xo", "yo")
        .gpu_threads("xi", "yi");
    all.emplace_back()["out"].vectorize("x", 4).gpu_blocks("y").gpu_threads("x.o", 8);
    all.emplace_back()["out"]
        .fuse("x", "y", "f")
        .split("f", "fo", "fi", 32)
        .gpu_blocks("fo")
        .gpu_threads("fi");
  } else {
    all.emplace_back()["out"].vectorize("x", 8).parallel("y");
  }
  return all;
}

/// out(x, y) = value on a small box, on every target: exact.
void expect_exact(const std::function<Expr(Expr, Expr)>& value,
                  const std::function<std::int64_t(std::int64_t, std::int64_t)>& expected) {
  Dim W("W"), H("H");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = value(x, y);
  const Pipeline p("far", {}, {{out, {W, H}}});
  const Type type = value(x, y).type();
  for (const Target& target : targets())
    for (const Schedule& s : schedules(target)) {
      const Buffer result(type, {4500, 3});
      testing::poison(result);
      p.compile(s, target)(result);
      std::int64_t wrong = 0;
      for (std::int64_t j = 0; j < 3; ++j)
        for (std::int64_t i = 0; i < 4500; ++i)
          wrong += result.value({i, j}) != static_cast<double>(expected(i, j));
      EXPECT_EQ(wrong, 0) << target.str() << s.str();
    }
}

TEST(WideCoordinates, ComparisonsAreThoseOfWholeNumbers) {
  expect_exact([](Expr x, Expr y) { return select(x * 1000000 < y, 1, 2); },
               [](std::int64_t x, std::int64_t y) { return x * 1000000 < y ? 1 : 2; });
  expect_exact([](Expr x, Expr y) { return select(x * x * x >= y + 5000000000, 1, 2); },
               [](std::int64_t x, std::int64_t y) { return x * x * x >= y + 5000000000 ? 1 : 2; });
  expect_exact([](Expr x, Expr y) { return select(x * 1000000 == y + 4294967296000000, 1, 2); },
               [](std::int64_t, std::int64_t) { return 2; });
}

TEST(WideCoordinates, LiteralsBeyondThemAreKept) {
  expect_exact([](Expr x, Expr) { return select(x >= 4294967297, 1, 2); },
               [](std::int64_t, std::int64_t) { return 2; });
  expect_exact([](Expr x, Expr) { return cast<int>(min(x, 4294967297)); },
               [](std::int64_t x, std::int64_t) { return x; });
}

TEST(WideCoordinates, QuotientsAndEndsAreThoseOfWholeNumbers) {
  expect_exact([](Expr x, Expr y) { return cast<int>((x * 1000000 + y) / 999983 % 1009); },
               [](std::int64_t x, std::int64_t y) { return (x * 1000000 + y) / 999983 % 1009; });
  expect_exact([](Expr x, Expr y) { return cast<int>(min(x * 3000000, 4000000000 + y) >> 8); },
               [](std::int64_t x, std::int64_t y) { return std::min(x * 3000000, 4000000000 + y) >> 8; });
}

TEST(WideCoordinates, ConditionsOfReductionsToo) {
  Dim W("W"), H("H");
  Var x("x"), y("y");
  RDom r(0, 4, "r");
  r.where(x * 1000000 + r * 900000000 > 3000000000);
  Func out("out");
  out(x, y) = 0;
  out(x, y) += cast<int>(r + 1);
  const Pipeline p("far", {}, {{out, {W, H}}});
  const Evaluation reference = p.evaluate({}, {}, {{"W", 4500}, {"H", 3}});
  for (const Target& target : targets())
    for (const Schedule& s : schedules(target)) {
      const Buffer result(Int(32), {4500, 3});
      testing::poison(result);
      p.compile(s, target)(result);
      EXPECT_TRUE(lang::compare_with_reference(result, reference, 0, true).ok) << target.str() << s.str();
    }
  const Buffer& out_values = reference.outputs[0];
  EXPECT_EQ(out_values.value({0, 0}), 0);
  EXPECT_EQ(out_values.value({301, 0}), 4);
  EXPECT_EQ(out_values.value({4400, 2}), 10);
}

/// A table read at computed coordinates that need 64 bits on the way.
TEST(WideCoordinates, AddressesByLargeNumbers) {
  Dim W("W"), H("H"), N("N");
  ImageParam table(Int(32), {N}, "table");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = table(clamp(x * 1000000 - 4000000000 + y, 0, N - 1));
  const Pipeline p("far", {table}, {{out, {W, H}}});
  const Buffer in = testing::random_buffer(Int(32), {1000}, 3), result(Int(32), {4500, 3});
  for (const Target& target : targets())
    for (const Schedule& s : schedules(target))
      testing::expect_matches(p, s, target, {in}, {result}, {{"W", 4500}, {"H", 3}});
}

/// An output over a box of the caller's: coordinates beyond 32 bits.
TEST(WideCoordinates, BoxesFarFromZero) {
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = cast<int>(x % 1000 + y);
  const Pipeline p("far", {}, {out});
  for (const Target& target : targets())
    for (const Schedule& s : schedules(target))
      for (const std::int64_t min :
           {std::int64_t{0}, std::int64_t{2147483600}, std::int64_t{1} << 40, -(std::int64_t{1} << 40)}) {
        const Buffer result = Buffer(Int(32), {70, 3}).translate({min, -5});
        testing::poison(result);
        p.compile(s, target)(result);
        const std::int64_t rest = (min % 1000 + 1000) % 1000;
        for (std::int64_t i = 0; i < 70; ++i)
          EXPECT_EQ(result.value({min + i, -4}), (rest + i) % 1000 - 4)
              << target.str() << s.str() << min << " " << i;
      }
}

}  // namespace
}  // namespace calotype
