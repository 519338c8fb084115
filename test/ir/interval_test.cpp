// Bounds of expressions over a scope, unions and intersections: expected forms, and random expressions
// sampled.

#include <gtest/gtest.h>

#include "ir/simplify.h"
#include "simplify_random.h"

namespace calotype::ir {
namespace {

using testing::Environment;
using testing::Evaluator;
using testing::Generator;
using testing::World;

Expr named(const char* name, Type type = Int(64)) {
  return make_var(make_symbol(SymbolKind::Loop, name, type));
}

BufferPtr buffer(Type type) {
  Buffer b;
  b.name = "data";
  b.type = type;
  return make_buffer(std::move(b));
}

std::string text(const Interval& i) {
  const auto end = [](const Expr& e) { return e.defined() ? to_string(e) : std::string("-"); };
  return "[" + end(i.min) + ", " + end(i.max) + "]";
}

class Intervals : public ::testing::Test {
 protected:
  Intervals() {
    scope[symbol_of(x)] = {lo, hi};
    scope[symbol_of(v)] = {index(0), index(7)};
    scope[symbol_of(unbounded)] = {};
    facts.set_range(symbol_of(W), index(1), {});
    facts.set_range(symbol_of(n), index(0), {});
  }
  std::string bounds(const Expr& e) const { return text(bounds_of(e, scope, facts)); }

  Expr lo = named("lo"), hi = named("hi"), W = named("W"), n = named("n"), k = named("k"), x = named("x"),
       v = named("v");
  Expr unbounded = named("inf"), u8 = named("u", UInt(8));
  Scope scope = make_scope();
  Facts facts;
};

TEST_F(Intervals, AffineExpressionsAreExact) {
  EXPECT_EQ(bounds(x), "[lo, hi]");
  EXPECT_EQ(bounds(x * 2 + 1), "[lo*2 + 1, hi*2 + 1]");
  EXPECT_EQ(bounds(3 - x), "[3 - hi, 3 - lo]");
  EXPECT_EQ(bounds(x + v - x), "[0, 7]");
  EXPECT_EQ(bounds(x * 8 + v), "[lo*8, hi*8 + 7]");
  EXPECT_EQ(bounds(k + 1), "[k + 1, k + 1]");
  EXPECT_EQ(bounds(v * n), "[0, n*7]");
  EXPECT_EQ(bounds(v * k), "[min(k*7, 0), max(k*7, 0)]");
  EXPECT_EQ(bounds((v - 3) * (v - 3)), bounds(v * v - v * 6 + 9));
}

TEST_F(Intervals, MinimaMaximaAndClamps) {
  EXPECT_EQ(bounds(min(x, W - 1)), "[min(lo, W - 1), min(hi, W - 1)]");
  EXPECT_EQ(bounds(clamp(unbounded, 0, W - 1)), "[0, W - 1]");
  EXPECT_EQ(bounds(min(unbounded, k)), "[-, k]");
  EXPECT_EQ(bounds(max(unbounded, k)), "[k, -]");
  EXPECT_EQ(bounds(unbounded + 1), "[-, -]");
  EXPECT_EQ(bounds(min(x + 7, k) - x), "[min(k - hi, 7), min(k - lo, 7)]");
}

TEST_F(Intervals, BitsOfValuesThatAreNotNegative) {
  const Expr data = make(Op::Load, Int(64), {x}, buffer(Int(64)));
  EXPECT_EQ(bounds(unbounded & v), "[0, 7]");
  EXPECT_EQ(bounds(v & (v + 3)), "[0, 7]");
  EXPECT_EQ(bounds(data & 12), "[0, 12]");
  EXPECT_EQ(bounds(unbounded & unbounded), "[-, -]");
  EXPECT_EQ(bounds(v | (v + 3)), "[0, 15]");
  EXPECT_EQ(bounds(v ^ 8), "[0, 15]");
  EXPECT_EQ(bounds(v | unbounded), "[-, -]");
}

// What the simplifier proves by ranges of constants, and takes a clamp away for, is a bound here too.
TEST_F(Intervals, RangesOfConstantsAreBounds) {
  const Expr data = make(Op::Load, Int(32), {x}, buffer(Int(32)));
  EXPECT_EQ(bounds(clamp(cast(Int(64), data & max(data % 3, 0)), 0, 1)), "[0, 1]");
  EXPECT_EQ(bounds(cast(Int(64), cast(Int(32), v % 2) / (data >> 3))), "[-1, 1]");
  EXPECT_EQ(bounds(cast(Int(64), data)), "[-, -]");
  EXPECT_EQ(bounds(cast(Int(64), data / 2)), "[-, -]");
  // Narrow types have ends in any case: those of the values are closer.
  const Expr wide = make(Op::Load, UInt(64), {x}, buffer(UInt(64)));
  EXPECT_EQ(bounds(clamp(cast(Int(64), cast(UInt(16), min(wide, 3))), 0, 6)), "[0, 3]");
  EXPECT_EQ(bounds(cast(Int(64), cast(Int(16), wide % 6))), "[0, 5]");
}

TEST_F(Intervals, TermsMoveIntoQuotientsWhereTheyCancel) {
  // The last of a tile that a guard cuts off: y*16 + min(n - y*16, 16) is at most n.
  const Expr last = v * 16 + min(n - v * 16, 16);
  EXPECT_EQ(bounds(last), "[min(n, 16), min(n, 128)]");
  EXPECT_EQ(bounds(v * 8 + min(n - v * 16, 16) / 2), "[min(n/2, 8), min(n/2, 64)]");
  EXPECT_EQ(bounds(v * 16 + min(n - v * 16, 16) / 2 * 2 + 1), "[min(n/2*2 + 1, 17), min(n/2*2 + 1, 129)]");
}

TEST_F(Intervals, QuotientsTimesTheirDivisorLeaveARemainder) {
  EXPECT_EQ(bounds(x * 5 + (W - x * 5) / 2 * 2), "[W - 1, W]");
  EXPECT_EQ(bounds(x * 7 + v + (W - x * 7 - v) / 4 * 4), "[W - 3, W]");
  EXPECT_EQ(bounds(x - (x + k) / 4 * 4), "[-k, 3 - k]");
  EXPECT_EQ(bounds(x * 7 + min(3 - v, (W - x * 7 - 1) / 2) * 2),
            "[min(W, lo*7 - 6) - 2, min(hi*7 + 6, W - 1)]");
  EXPECT_EQ(bounds(x / 2 * 2), "[lo/2*2, hi/2*2]");
}

TEST_F(Intervals, DivisionAndModulo) {
  EXPECT_EQ(bounds(x / 4), "[lo/4, hi/4]");
  EXPECT_EQ(bounds(x / -4), "[hi/-4, lo/-4]");
  EXPECT_EQ(bounds((x * 8 + v) / 8), "[lo, hi]");
  EXPECT_EQ(bounds(x % 4), "[0, 3]");
  EXPECT_EQ(bounds(v % 8), "[0, 7]");
  EXPECT_EQ(bounds((v + 16) % 32), "[16, 23]");
  EXPECT_EQ(bounds(v % 100), "[0, 7]");
  EXPECT_EQ(bounds(unbounded % W), "[0, W - 1]");
  EXPECT_EQ(bounds(x / W), "[lo/W, hi/W]");
  EXPECT_EQ(bounds((unbounded * 4) % 16), "[0, 12]");
}

TEST_F(Intervals, SelectsNarrowTheirArms) {
  EXPECT_EQ(bounds(select(k < 0, v, v + 10)), "[0, 17]");
  EXPECT_EQ(bounds(select(v < 4, v, 7 - v)), "[0, 3]");
  EXPECT_EQ(bounds(select(unbounded < 0, 0, min(unbounded, 9))), "[0, 9]");
}

TEST_F(Intervals, CastsLoadsAndSmallTypes) {
  const SymbolPtr u = symbol_of(u8);
  scope[u] = {make_int(UInt(8), 0), make_int(UInt(8), 255)};
  EXPECT_EQ(bounds(cast<std::int64_t>(u8) * 2), "[0, 510]");
  EXPECT_EQ(bounds(cast<std::uint16_t>(u8) + cast<std::uint16_t>(u8)), "[0, 510]");
  EXPECT_EQ(bounds(u8 + 1), "[0, 255]");
  EXPECT_EQ(bounds(cast<std::int64_t>(cast<std::int32_t>(v))), "[0, 7]");
  EXPECT_EQ(bounds(cast<std::int64_t>(cast<std::uint8_t>(x))), "[0, 255]");
  EXPECT_EQ(bounds(cast<std::int64_t>(cast<std::int32_t>(x))), "[-, -]");
  const BufferPtr lut = make_buffer({.name = "lut", .type = UInt(8)}),
                  big = make_buffer({.name = "big", .type = Int(32)});
  EXPECT_EQ(bounds(make(Op::Load, UInt(8), {x}, lut)), "[0, 255]");
  EXPECT_EQ(bounds(make(Op::Load, Int(32), {x}, big)), "[-, -]");
  const Expr weight = make(Op::Cast, Float(32), {x});
  EXPECT_EQ(bounds(cast<std::int64_t>(clamp(weight * 255.0f, 0.0f, 255.0f))), "[0, 255]");
}

TEST_F(Intervals, LetsRampsAndChainedScopes) {
  const SymbolPtr l = make_symbol(SymbolKind::Let, "l");
  EXPECT_EQ(bounds(make(Op::Let, Int(64), {x + 1, make_var(l) * 2}, l)), "[lo*2 + 2, hi*2 + 2]");
  EXPECT_EQ(bounds(make(Op::Ramp, Int(64, 8), {x, index(2)})), "[lo, hi + 14]");
  const Expr inner = named("inner");
  scope[symbol_of(inner)] = {x * 8, x * 8 + 7};
  EXPECT_EQ(bounds(inner), "[lo*8, hi*8 + 7]");
}

TEST_F(Intervals, UnionsStaySmall) {
  const Interval a{k, k + 7}, b{k + 2, k + 9}, c{W, W + 3};
  EXPECT_EQ(text(interval_union(a, b)), "[k, k + 9]");
  EXPECT_EQ(text(interval_intersection(a, b)), "[k + 2, k + 7]");
  EXPECT_EQ(text(interval_union(a, c)), "[min(W, k), max(W, k + 4) + 3]");
  EXPECT_EQ(text(interval_union(a, {})), "[-, -]");
  EXPECT_EQ(text(interval_intersection(a, {})), "[k, k + 7]");
  Interval all = a;
  for (int i = -3; i <= 3; ++i) all = interval_union(all, {k + i, k + i + 7});
  EXPECT_EQ(text(all), "[k - 3, k + 10]");
  EXPECT_EQ(text(interval_union({min(k, W), k}, {min(k - 1, W - 1), k + 1}, facts)),
            "[min(W, k) - 1, k + 1]");
}

/// Every sampled value lies within the bounds, taken at the same values of the symbols outside the scope.
TEST(IntervalsRandom, ContainEveryValue) {
  const World world;
  const std::vector<Expr> moving = {world.x, world.lane, world.tile};
  int finite = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Generator g(seed, {world.x, world.lane, world.tile, world.width, world.free});
    Facts facts;  // what is known of the symbols outside the scope
    facts.set_range(symbol_of(world.width), index(1), {});
    const Expr x_max = world.width + g.number(0, 3) - 1;
    const std::int64_t first = g.number(-9, 9), last = first + g.number(0, 9);
    Scope scope = make_scope();
    scope[symbol_of(world.x)] = {index(0), x_max};
    scope[symbol_of(world.lane)] = {index(0), index(7)};
    scope[symbol_of(world.tile)] = {index(first), index(last)};
    const Expr e = seed % 5 == 0 ? g.narrow(3) : g.integer(static_cast<int>(1 + seed % 4));
    const Interval bounds = bounds_of(e, scope, facts);
    for (const Expr& end : {bounds.min, bounds.max}) {
      if (!end.defined()) continue;
      ASSERT_EQ(end.type(), e.type());
      for (const Expr& s : moving)
        ASSERT_FALSE(uses(end, symbol_of(s))) << to_string(e) << " in " << text(bounds);
    }
    finite += bounds.bounded();
    for (int k = 0; k < 60; ++k) {
      Environment point = world.point(g);
      point[symbol_of(world.width)->unique] = g.number(1, 40);
      point[symbol_of(world.x)->unique] = g.number(0, *Evaluator(point)(x_max));
      point[symbol_of(world.tile)->unique] = g.number(first, last);
      Evaluator value_of(point);
      const auto value = value_of(e);
      if (!value) continue;
      const auto low = bounds.min.defined() ? value_of(bounds.min) : std::nullopt;
      const auto high = bounds.max.defined() ? value_of(bounds.max) : std::nullopt;
      const auto ordered = [&](std::int64_t l, std::int64_t r) {
        return e.type() == UInt(64) ? static_cast<std::uint64_t>(l) <= static_cast<std::uint64_t>(r) : l <= r;
      };
      ASSERT_TRUE(ordered(low.value_or(*value), *value) && ordered(*value, high.value_or(*value)))
          << "seed " << seed << ": " << *value << " of " << to_string(e) << "\nnot in " << text(bounds);
    }
  }
  EXPECT_GT(finite, 1000);
}

/// The simplifier takes a clamp away where the range of constants lies inside it; without the clamp the
/// bounds have to be as close, or more would be read of an input than the algorithm does.
TEST(IntervalsRandom, AreNoWiderThanTheRangeOfConstants) {
  const World world;
  Scope scope = make_scope();
  for (const Expr& s : world.symbols) scope[symbol_of(s)] = {};
  const Type types[] = {Int(8), Int(16), Int(32), UInt(8), UInt(16), UInt(32)};
  int closer = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    Generator g(seed, world.symbols);
    const Type type = types[seed % 6];
    const Expr e = simplify(g.narrow(type, static_cast<int>(1 + seed % 4)), {});
    const auto least = constant_lower_bound(e, {}), greatest = constant_upper_bound(e, {});
    const Interval bounds = bounds_of(e, scope, {});
    const auto low = bounds.min.defined() ? as_int(bounds.min) : std::nullopt,
               high = bounds.max.defined() ? as_int(bounds.max) : std::nullopt;
    if (low && least) {
      EXPECT_GE(*low, *least) << to_string(e);
    }
    if (high && greatest) {
      EXPECT_LE(*high, *greatest) << to_string(e);
    }
    closer += least && *least > type.min_int();
  }
  EXPECT_GT(closer, 100);
}

/// For expressions of the kinds that are bounded exactly both ends are reached.
TEST(IntervalsRandom, AreExactForAffineAndMonotoneExpressions) {
  const Expr x = named("x"), y = named("y"), k = named("k");
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Generator g(seed, {k});
    const std::int64_t x_min = g.number(-9, 9), x_max = x_min + g.number(0, 6), y_min = g.number(-9, 9),
                       y_max = y_min + g.number(0, 6);
    Scope scope = make_scope();
    scope[symbol_of(x)] = {index(x_min), index(x_max)};
    scope[symbol_of(y)] = {index(y_min), index(y_max)};
    const Expr affine = x * g.number(-5, 5) + y * g.number(-5, 5) + k;
    const Expr shapes[] = {affine, clamp(affine, k - 4, k + 9), (affine + g.number(0, 7)) / g.number(1, 9),
                           max(affine, k), min(affine / 4, 3) * 2 - k};
    const Expr e = shapes[seed % 5];
    const Interval bounds = bounds_of(e, scope);
    ASSERT_TRUE(bounds.bounded());
    Environment point{{symbol_of(k)->unique, g.number(-20, 20)}};
    std::int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (std::int64_t i = x_min; i <= x_max; ++i)
      for (std::int64_t j = y_min; j <= y_max; ++j) {
        point[symbol_of(x)->unique] = i;
        point[symbol_of(y)->unique] = j;
        least = std::min(least, *Evaluator(point)(e));
        greatest = std::max(greatest, *Evaluator(point)(e));
      }
    EXPECT_EQ(Evaluator(point)(bounds.min), least) << to_string(e) << " " << text(bounds);
    EXPECT_EQ(Evaluator(point)(bounds.max), greatest) << to_string(e) << " " << text(bounds);
  }
}

}  // namespace
}  // namespace calotype::ir
