// The simplifier: a table of reductions, proofs and bounds, and random expressions against an evaluator.

#include "ir/simplify.h"

#include <gtest/gtest.h>

#include <chrono>

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

Expr ramp(const Expr& base, const Expr& stride, int lanes) {
  return make(Op::Ramp, base.type().with_lanes(lanes), {base, stride});
}
Expr broadcast(const Expr& value, int lanes) {
  return make(Op::Broadcast, value.type().with_lanes(lanes), {value});
}
Expr vec(Op op, const Expr& a, const Expr& b) {
  return make(op, info(op).group == OpGroup::compare ? Bool(a.type().lanes) : a.type(), {a, b});
}

/// Symbols in the order of their creation, with what the reductions below may rely on.
class Simplification : public ::testing::Test {
 protected:
  Simplification() {
    range(W, index(1), {});
    range(H, index(1), {});
    range(x, index(0), W - 1);
    range(t, index(0), index(255));
    range(v, index(0), index(7));
    range(n, index(0), {});
    range(r, index(8), index(15));
    range(i32, make_int(Int(32), 0), make_int(Int(32), 1000));
    facts.symbols[symbol_of(m)].multiple = 16;
  }

  void range(const Expr& symbol, const Expr& lo, const Expr& hi) {
    facts.set_range(symbol_of(symbol), lo, hi);
  }

  struct Row {
    Expr input;
    const char* expected;
  };
  void expect(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      const Expr once = simplify(row.input, facts);
      EXPECT_EQ(to_string(once), row.expected) << "from " << to_string(row.input);
      EXPECT_TRUE(equal(simplify(once, facts), once)) << to_string(once) << " is not a fixed point";
    }
  }

  Expr W = named("W"), H = named("H"), x = named("x"), y = named("y"), z = named("z"), t = named("t"),
       v = named("v");
  Expr a = named("a"), b = named("b"), c = named("c"), n = named("n"), m = named("m"), s = named("s");
  Expr r = named("r");
  Expr i32 = named("i", Int(32)), j32 = named("j", Int(32)), u8 = named("u", UInt(8)),
       f = named("f", Float(32));
  Expr p = named("p", Bool()), q = named("q", Bool());
  Facts facts;
};

TEST_F(Simplification, CollectsLinearTerms) {
  expect({
      {a + b - a, "b"},
      {b + 3 + a * 2 - 5 + b, "a*2 + b*2 - 2"},
      {(a + 1) * 3 - 3, "a*3"},
      {a - (a - b), "b"},
      {3 - a, "3 - a"},
      {0 - a - 3, "-a - 3"},
      {y * W + z - W * y, "z"},
      {(y - z) * s + z * s, "y*s"},
      {(y + a) * s + (z - a) * s, "(y + z)*s"},
      {(a + b) * (a - b), "a*a - b*b"},
      {i32 * 3 + j32 - i32, "i*2 + j"},
      {(i32 + j32) * 3, "(i + j)*3"},
  });
}

TEST_F(Simplification, SplitsMultiplesOffDivisions) {
  expect({
      {(y * 8 + v) / 8, "y"},
      {(y * 8 + v) % 8, "v"},
      {(y * 8 + v + 16) / 8, "y + 2"},
      {((z * 2048 + t * 8 + v) / 8) % 256, "t"},
      {(z * 2048 + t * 8 + v) / 2048, "z"},
      {(y / 8) * 8 + y % 8, "y"},
      {(y / 8) % 4 * 8 + y % 8, "y%32"},
      {y - (y / 8) * 8 - y % 8, "0"},
      {(y / 4) / 8, "y/32"},
      {(y / 4 + 1) / 8, "(y + 4)/32"},
      {(y * 6) / 4, "y*3/2"},
      {min(y * 8 + v, W) / 8, "min(y, W/8)"},
      {(max(y * 8, W) + 9) / 8, "max(y, (W + 1)/8) + 1"},
      {min(y, W) / 8, "min(W, y)/8"},
      {(t * 8 + v) / 16, "t/2"},
      {(t * 8 + v) % 64, "v + t%8*8"},
      {(y % 16) % 8, "y%8"},
      {(y * 8 + r) % 64, "r + (y + 1)%8*8 - 8"},
      {(y * 8 + r) / 64, "(y + 1)/8"},
      {(y + 17) % 8, "(y + 1)%8"},
      {t / 256, "0"},
      {(t - 256) / 256, "-1"},
      {t % 256, "t"},
      {v / 8 + v % 8, "v"},
      {(z * W + x) / W, "z"},
      {(z * W + x) % W, "x"},
      {(z * W * H + y * W + x) / W, "y + H*z"},
      {(a / W) * W + a % W, "a"},
      {m % 8, "0"},
      {m / 16 * 16, "m"},
      {(m + 7) / 8, "m/8"},
      {(u8 / 4) / 8, "u/32"},
      {i32 / 2000, "0"},
      {a / 0, "0"},
      {a % 0, "0"},
  });
}

TEST_F(Simplification, ReducesMinimaAndMaxima) {
  expect({
      {min(a + 3, a + 5), "a + 3"},
      {max(a + 3, a + 5), "a + 5"},
      {min(a + c, b + c), "c + min(a, b)"},
      {min(a * 8 + 7, b * 8 + 7), "min(a, b)*8 + 7"},
      {min(b, min(a, b)), "min(a, b)"},
      {min(min(a, 5), 3), "min(a, 3)"},
      {min(x, x + n), "x"},
      {max(min(x, W - 1), 0), "x"},
      {max(min(t, 10), 0), "min(t, 10)"},
      {min(max(a, b), a), "a"},
      {max(min(a, c), min(b, c)), "min(c, max(a, b))"},
      {max(min(a, 5), 7), "7"},
      {min(u8, 255), "u"},
      {max(i32, -4), "i"},
      {max(W, 0), "W"},
      {max(a, b) + min(a, b), "a + b"},
      {min(cast<std::int64_t>(u8), 300), "s64(u)"},
  });
}

TEST_F(Simplification, UnionsOfShiftedClampsAreOneClamp) {
  const auto clamped = [&](int by) { return max(min(a + by, W - 1), 0); };
  expect({
      {min(min(clamped(-1), clamped(0)), clamped(1)), "max(min(W, a) - 1, 0)"},
      {max(max(clamped(-1), clamped(0)), clamped(1)), "max(min(a + 1, W - 1), 0)"},
  });
}

TEST_F(Simplification, DecidesAndNormalisesComparisons) {
  expect({
      {x < W, "true"},
      {W <= x, "false"},
      {x == W, "false"},
      {a + 3 < b + 5, "a < b + 2"},
      {a - 2 <= b, "a < b + 3"},
      {2 * a < 7, "a < 4"},
      {2 * a == 6, "a == 3"},
      {2 * a == 2 * b + 1, "false"},
      {-a < 3, "-2 <= a"},
      {a / 8 < 4, "a < 32"},
      {b <= a / 8, "b*8 <= a"},
      {!(a < b), "b <= a"},
      {!(a == b), "a != b"},
      {cast<std::int32_t>(u8) < 256, "true"},
  });
}

TEST_F(Simplification, ReducesLogicAndSelection) {
  expect({
      {a < 5 && a < 7, "a < 5"},
      {a < 5 || a < 7, "a < 7"},
      {a < 5 && a >= 5, "false"},
      {a < 5 || a >= 5, "true"},
      {a < 5 || a >= 6, "a < 5 || 6 <= a"},
      {p && (q && p), "p && q"},
      {p || !p, "true"},
      {!(p && a < b), "!p || b <= a"},
      {p && x < W, "p"},
      {select(p, a, a), "a"},
      {select(x < W, a, b), "a"},
      {select(!p, a, b), "select(p, b, a)"},
      {select(p, select(p, a, b), c), "select(p, a, c)"},
      {likely(x < W), "true"},
      {likely(a < 4 + b), "likely(a < b + 4)"},
  });
}

TEST_F(Simplification, UsesKnownConditions) {
  facts.conditions = {a < b && b <= c, p, likely(z < 10)};
  expect({
      {a < b, "true"},
      {b <= a, "false"},
      {a < c, "true"},
      {a + 1 <= c, "true"},
      {min(a, c), "a"},
      {max(z, 9), "9"},
      {p && q, "q"},
      {select(p, a, b), "a"},
      {c < a, "false"},
  });
}

TEST_F(Simplification, RemovesExactCasts) {
  expect({
      {cast<std::int64_t>(cast<std::int32_t>(t)), "t"},
      {cast<std::int64_t>(cast<std::int32_t>(a)), "s64(s32(a))"},
      {cast<std::uint8_t>(cast<std::int32_t>(u8)), "u"},
      {cast<std::uint8_t>(cast<std::int32_t>(a)), "u8(a)"},
      {cast<float>(cast<std::int32_t>(u8)), "f32(u)"},
      {cast<float>(cast<double>(f)), "f"},
      {cast<double>(cast<float>(named("d", Float(64)))), "f64(f32(d))"},
  });
}

TEST_F(Simplification, KeepsFloatsAsWritten) {
  const Expr g = named("g", Float(32));
  const auto add = [](const Expr& l, const Expr& r) { return make(Op::Add, Float(32), {l, r}); };
  const auto mul = [](const Expr& l, const Expr& r) { return make(Op::Mul, Float(32), {l, r}); };
  const Expr one = make_float(Float(32), 1), two = make_float(Float(32), 2);
  expect({
      {mul(f, one), "f"},
      {add(add(f, g), make(Op::Neg, Float(32), {f})), "f + g + -f"},
      {make(Op::Sub, Float(32), {f, f}), "f - f"},
      {make(Op::Not, Bool(), {make(Op::Lt, Bool(), {f, g})}), "!(f < g)"},
      {make(Op::Eq, Bool(), {f, f}), "f == f"},
  });
  EXPECT_TRUE(equal(simplify(mul(add(one, one), f)), mul(two, f)));
}

TEST_F(Simplification, WorksOnTheLanesOfVectors) {
  const Expr eight = broadcast(index(8), 8);
  expect({
      {vec(Op::Add, ramp(a, index(1), 8), broadcast(b, 8)), "ramp(a + b, 1, 8)"},
      {vec(Op::Mul, ramp(a, index(1), 8), broadcast(index(3), 8)), "ramp(a*3, 3, 8)"},
      {vec(Op::Mul, ramp(a, index(1), 8), broadcast(s, 8)), "ramp(a*s, s, 8)"},
      {vec(Op::Sub, ramp(a, index(1), 8), ramp(b, index(1), 8)), "broadcast(a - b, 8)"},
      {vec(Op::Div, ramp(a * 8, index(1), 8), eight), "broadcast(a, 8)"},
      {vec(Op::Mod, ramp(a * 8, index(1), 8), eight), "ramp(0, 1, 8)"},
      {vec(Op::Min, ramp(a, index(1), 8), broadcast(a + 20, 8)), "ramp(a, 1, 8)"},
      {vec(Op::Min, ramp(a, index(1), 8), broadcast(b, 8)), "min(broadcast(b, 8), ramp(a, 1, 8))"},
      {vec(Op::Lt, ramp(v, index(1), 8), broadcast(index(15), 8)), "broadcast(true, 8)"},
      {vec(Op::Max, broadcast(a, 4), broadcast(b, 4)), "broadcast(max(a, b), 4)"},
      {make(Op::Cast, Int(32, 4), {broadcast(a, 4)}), "broadcast(s32(a), 4)"},
      {make(Op::Lane, Int(64), {ramp(a, index(2), 8), index(3)}), "a + 6"},
      {ramp(u8, make_int(UInt(8), 1), 4), "ramp(u, 1, 4)"},
  });
}

TEST_F(Simplification, LeavesLetsButNotTrivialOnes) {
  const SymbolPtr l = make_symbol(SymbolKind::Let, "l");
  const auto let = [&](const Expr& value, const Expr& body) {
    return make(Op::Let, Int(64), {value, body}, l);
  };
  expect({
      {let(index(3), make_var(l) + 2), "5"},
      {let(a, make_var(l) - a), "0"},
      {let(a + b, c), "c"},
  });
  const Expr kept = simplify(let(a * b, make_var(l) * make_var(l)), facts);
  EXPECT_TRUE(is(kept, Op::Let));
  EXPECT_TRUE(prove(let(t, make_var(l) * 2) <= 510, facts));
}

TEST_F(Simplification, Proves) {
  for (const Expr& claim : {
           W >= 1,
           x * H + H - 1 < W * H,
           x * H <= W * H - H,
           min(x + 8, W) - x <= 8,
           (x / 8) * 8 + 7 < W + 7,
           (W + 7) / 8 * 8 >= W,
           (W + 7) / 8 * 8 - W <= 7,
           (W - 1) / 8 * 8 < W,
           x / 8 <= (W - 1) / 8,
           x / 8 < (W + 7) / 8,
           (x + 8) / 8 - x / 8 == 1,
           a % W < W,
           0 <= a % W,
           (a / H) * H <= a,
           max(a, b) - min(a, b) >= 0,
           min(a + 7, W - 1) - min(a, W - 8) <= 7,
           y - y % 8 == y / 8 * 8,
           select(p, a + 3, b + 3) - select(p, a, b) == 3,
           x - x % 8 >= 0,
       })
    EXPECT_TRUE(prove(claim, facts)) << to_string(claim);
  for (const Expr& claim : {a < b, x < W - 1, x > 0, a % W < W - 1, W > 1, min(a, b) < max(a, b)})
    EXPECT_FALSE(prove(claim, facts)) << to_string(claim);
  EXPECT_TRUE(prove_equal(min(a - 1, b + 2) + 1, min(a, b + 3), facts));
  EXPECT_TRUE(prove_equal((a + 7) / 8 - (a - 1) / 8, index(1), facts));
  EXPECT_FALSE(prove_equal(a, b, facts));
}

TEST_F(Simplification, LooksThroughLetValues) {
  const Expr l = named("l"), k = named("k");
  facts.set_value(symbol_of(l), t * 8 + v);
  facts.set_value(symbol_of(k), l * 2);
  EXPECT_TRUE(prove(l < 2048, facts));
  EXPECT_TRUE(prove(l >= t, facts));
  EXPECT_TRUE(prove(k - t * 16 <= 14, facts));
  EXPECT_EQ(to_string(simplify(l + 1, facts)), "l + 1");
}

// A symbol is not bounded on its own while a name beside it stands for something that cancels it.
TEST_F(Simplification, BoundsOfWhatCancelsBehindAName) {
  const Expr end = named("end"), tile = named("tile");
  range(tile, n, W);
  facts.set_value(symbol_of(end), min(tile * 8 + 7, W - 1));
  EXPECT_EQ(constant_upper_bound(end - tile * 8 + 1, facts), 8);
}

TEST_F(Simplification, BoundsByConstants) {
  const auto upper = [&](const Expr& e) { return constant_upper_bound(e, facts); };
  const auto lower = [&](const Expr& e) { return constant_lower_bound(e, facts); };
  EXPECT_EQ(upper(min(a + 7, W) - a), 7);
  EXPECT_EQ(upper((a + 7) / 8 * 8 - a), 7);
  EXPECT_EQ(lower((a + 7) / 8 * 8 - a), 0);
  EXPECT_EQ(lower(max(a, b) - min(a, b)), 0);
  EXPECT_EQ(upper(max(a, b) - min(a, b)), std::nullopt);
  EXPECT_EQ(upper(min(x + 8, W) - x), 8);
  EXPECT_EQ(lower(min(x + 8, W) - x), 1);
  EXPECT_EQ(upper(t * 8 + v), 2047);
  EXPECT_EQ(upper(cast<std::int64_t>(u8) * 2), 510);
  EXPECT_EQ(upper(min(y * 32 + 31, W - 1) - min(y * 32, W - 32) + 1), 32);
  EXPECT_EQ(lower(named("w", UInt(64)) + 5), 0);  // may wrap
  EXPECT_EQ(lower(W), 1);
  EXPECT_EQ(upper(W), std::nullopt);
}

/// Of a loop that never runs the last iteration comes before the first: any range will do, but one there is.
TEST_F(Simplification, TakesFactsThatContradictEachOtherForNone) {
  const Expr never = named("never");
  range(never, index(2), index(0));
  EXPECT_EQ(constant_upper_bound(v / never, facts), 7);
  EXPECT_EQ(constant_lower_bound(v / never, facts), -7);
  EXPECT_EQ(constant_upper_bound(v % never, facts), 7);
}

TEST_F(Simplification, KnowsMultiples) {
  EXPECT_EQ(known_multiple(m * 2 + 8, facts), 8);
  EXPECT_EQ(known_multiple(m, facts), 16);
  EXPECT_EQ(known_multiple(m / 4, facts), 4);
  EXPECT_EQ(known_multiple(min(m, a * 24), facts), 8);
  EXPECT_EQ(known_multiple(index(0), facts), 0);
  EXPECT_EQ(known_multiple(index(-12), facts), 12);
  EXPECT_EQ(known_multiple(m * m * 3, facts), 768);
  EXPECT_EQ(known_multiple(a, facts), 1);
}

TEST(SimplifyRandom, KeepsValuesAndIsIdempotent) {
  const World world;
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Generator g(seed, world.symbols);
    const Expr e = seed % 4 == 3   ? g.condition(4)
                   : seed % 8 == 1 ? g.narrow(4)
                                   : g.integer(static_cast<int>(2 + seed % 4));
    const Expr simple = simplify(e, world.facts);
    ASSERT_EQ(simple.type(), e.type());
    for (int k = 0; k < 30; ++k) {
      const Environment point = world.point(g);
      const auto want = Evaluator(point)(e);
      if (!want) continue;
      ++compared;
      ASSERT_EQ(Evaluator(point).wrapped(simple), *want) << "seed " << seed << "\n"
                                                         << to_string(e) << "\n"
                                                         << to_string(simple);
    }
    const Expr twice = simplify(simple, world.facts);
    EXPECT_TRUE(equal(twice, simple)) << "seed " << seed << "\n"
                                      << to_string(simple) << "\n"
                                      << to_string(twice);
  }
  EXPECT_GT(compared, 30000);
}

TEST(SimplifyRandom, KeepsTheLanesOfVectors) {
  const World world;
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    Generator g(seed, world.symbols);
    const Expr e = g.vector(4, static_cast<int>(1 + seed % 3)), simple = simplify(e, world.facts);
    ASSERT_EQ(simple.type(), e.type());
    for (int k = 0; k < 20; ++k) {
      const Environment point = world.point(g);
      for (int lane = 0; lane < 4; ++lane) {
        const auto want = Evaluator(point)(e, lane);
        if (!want) continue;
        ASSERT_EQ(Evaluator(point).wrapped(simple, lane), *want) << "seed " << seed << "\n"
                                                                 << to_string(e) << "\n"
                                                                 << to_string(simple);
      }
    }
    const Expr twice = simplify(simple, world.facts);
    EXPECT_TRUE(equal(twice, simple)) << "seed " << seed << "\n"
                                      << to_string(simple) << "\n"
                                      << to_string(twice);
  }
}

TEST(SimplifyRandom, ConstantBoundsAndMultiplesHold) {
  const World world;
  int bounded = 0;
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    Generator g(seed, world.symbols);
    const Expr e = g.integer(static_cast<int>(1 + seed % 4));
    const auto lower = constant_lower_bound(e, world.facts), upper = constant_upper_bound(e, world.facts);
    const std::int64_t multiple = known_multiple(e, world.facts);
    bounded += lower || upper;
    for (int k = 0; k < 60; ++k) {
      const auto value = Evaluator(world.point(g))(e);
      if (!value) continue;
      ASSERT_LE(lower.value_or(*value), *value) << "seed " << seed << "\n" << to_string(e);
      ASSERT_GE(upper.value_or(*value), *value) << "seed " << seed << "\n" << to_string(e);
      ASSERT_EQ(multiple == 0 ? *value : *value % multiple, 0) << "seed " << seed << "\n" << to_string(e);
    }
  }
  EXPECT_GT(bounded, 300);
}

TEST(SimplifyRandom, TerminatesOnFactsInCircles) {
  const Expr a = named("a"), b = named("b"), c = named("c");
  Facts facts;
  facts.set_range(symbol_of(a), b - 5, c + 1);
  facts.set_range(symbol_of(b), a - 5, c + 1);
  facts.set_range(symbol_of(c), a - 5, b + 1);
  facts.conditions = {a < b + 2, b < c + 2, c < a + 2};
  EXPECT_FALSE(prove(min(a, b) + max(b, c) * 3 < a + 7, facts));
  EXPECT_TRUE(prove(a < b + 2, facts));
}

// A branch that no call takes has such facts.
TEST(SimplifyFacts, MayContradictEachOther) {
  const Expr n = named("n"), x = named("x");
  Facts facts;
  facts.set_range(symbol_of(n), index(1), index(0));
  facts.set_range(symbol_of(x), index(0), index(100));
  for (const Expr& e : {x / n, x % n, max(x / n, x % n), min(x, x / n + 1)}) {
    EXPECT_TRUE(simplify(e, facts).defined());
    constant_upper_bound(e, facts);
    constant_lower_bound(e, facts);
  }
}

TEST(SimplifyRandom, LongChainsAreFast) {
  Expr sum = index(0), least = index(1000);
  std::vector<Expr> symbols;
  for (int i = 0; i < 200; ++i) symbols.push_back(named("s"));
  for (int i = 0; i < 4000; ++i) sum = sum + symbols[static_cast<std::size_t>(i % 200)] * (i % 7 - 3);
  for (const Expr& s : symbols) least = min(least, s);
  Expr nested = symbols[0];
  for (int i = 0; i < 60; ++i)
    nested = max(min(nested + symbols[static_cast<std::size_t>(i)], nested), symbols[1]);
  const auto start = std::chrono::steady_clock::now();
  simplify(sum);
  simplify(least);
  simplify(nested);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace calotype::ir
