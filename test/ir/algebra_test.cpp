// One Algebra for many questions answers as a fresh one for each, whatever the facts have been before.

#include <gtest/gtest.h>

#include "simplify_random.h"

namespace calotype::ir {
namespace {

using testing::Generator;
using testing::World;

Expr named(const char* name) { return World::named(name); }

TEST(Algebra, AnswersAsTheFunctionsDo) {
  World world;
  Algebra algebra(world.facts);
  Scope scope = make_scope();
  scope[symbol_of(world.tile)] = {index(0), world.width};
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    Generator g(seed, world.symbols);
    const Expr e = g.integer(static_cast<int>(1 + seed % 4)), other = g.integer(2);
    const auto same = [&](const Expr& got, const Expr& want) {
      const bool equals = got.defined() == want.defined() && (!got.defined() || equal(got, want));
      EXPECT_TRUE(equals) << "seed " << seed << "\n" << to_string(e);
    };
    const bool assume = seed % 3 == 0;
    if (assume) world.facts.assume(make(Op::Lt, Bool(), {e, other}));
    same(algebra.simplify(other), simplify(other, world.facts));
    same(algebra.simplify(e), simplify(e, world.facts));
    if (assume) world.facts.drop_assumption();
    const Interval got = algebra.bounds_of(e, scope), want = bounds_of(e, scope, world.facts);
    same(got.min, want.min);
    same(got.max, want.max);
  }
}

TEST(Algebra, FollowsTheFacts) {
  const Expr x = named("x"), e = min(x, 8);
  Facts facts;
  Algebra algebra(facts);
  EXPECT_TRUE(equal(algebra.simplify(e), e));
  facts.assume(x < 8);
  EXPECT_TRUE(equal(algebra.simplify(e), x));
  facts.assume(x == 3);
  EXPECT_TRUE(is_one(algebra.simplify(x == 3)));
  facts.drop_assumption();
  EXPECT_TRUE(equal(algebra.simplify(e), x));
  EXPECT_FALSE(is_one(algebra.simplify(x == 3)));
  facts.drop_assumption();
  EXPECT_TRUE(equal(algebra.simplify(e), e));
  facts.assume(8 < x);
  EXPECT_TRUE(is_int(algebra.simplify(e), 8));
  facts.drop_assumption();
  facts.set_range(symbol_of(x), index(0), index(5));
  EXPECT_TRUE(equal(algebra.simplify(e), x));
  facts.set_range(symbol_of(x), index(0), index(50));
  EXPECT_TRUE(equal(algebra.simplify(e), e));
}

TEST(Algebra, SeesWhatBecomesKnownOfNames) {
  const Expr a = named("a"), b = named("b"), c = named("c");
  Facts facts;
  Algebra algebra(facts);
  EXPECT_TRUE(equal(algebra.simplify(max(a, 0)), max(a, 0)));
  facts.set_value(symbol_of(b), a + 5);  // nothing was asked about it
  EXPECT_TRUE(is_one(algebra.simplify(a < b)));
  facts.set_range(symbol_of(a), index(3), index(7));  // which answers about `b` rest on too
  EXPECT_TRUE(equal(algebra.simplify(max(a, 0)), a));
  EXPECT_TRUE(is_one(algebra.simplify(b <= 12)));
  facts.set_range(symbol_of(a), index(3), b);
  facts.set_value(symbol_of(b), c + 1);
  EXPECT_FALSE(is_one(algebra.simplify(b <= 12)));
  facts.set_multiple(symbol_of(c), 8);
  EXPECT_TRUE(is_int(algebra.simplify(c % 4), 0));
  facts.set_multiple(symbol_of(c), 2);
  EXPECT_FALSE(is_const(algebra.simplify(c % 4)));
}

TEST(Algebra, TellsConditionsApart) {
  const Expr x = named("x"), y = named("y");
  Facts facts;
  Algebra algebra(facts);
  // More of them than are remembered, and each again when all others have been.
  for (int round = 0; round < 2; ++round)
    for (std::int64_t n = 0; n < 100; ++n) {
      facts.assume(x < n);
      EXPECT_TRUE(is_one(algebra.simplify(x < n + 1))) << n;
      EXPECT_FALSE(is_const(algebra.simplify(x < n - 1))) << n;
      facts.assume(n - 3 < x);
      EXPECT_TRUE(is_one(algebra.simplify(n - 4 < x))) << n;
      facts.drop_assumption();
      EXPECT_FALSE(is_const(algebra.simplify(n - 4 < x))) << n;
      facts.assume(y == n);
      EXPECT_TRUE(is_one(algebra.simplify(x < y))) << n;
      facts.drop_assumption();
      facts.drop_assumption();
      EXPECT_FALSE(is_const(algebra.simplify(x < y))) << n;
    }
}

TEST(Algebra, BoundsOfAnInterval) {
  const Expr x = named("x"), w = named("w");
  Scope scope = make_scope();
  scope[symbol_of(x)] = {index(1), w};
  const Interval found = bounds_of(Interval{x - 2, x * 3}, scope);
  EXPECT_TRUE(is_int(found.min, -1));
  EXPECT_TRUE(equal(found.max, simplify(w * 3)));
  const Interval half = bounds_of(Interval{{}, x}, scope);
  EXPECT_FALSE(half.min.defined());
  EXPECT_TRUE(equal(half.max, w));
}

TEST(Algebra, UnionsAndUnboundedEnds) {
  const Facts facts;
  Algebra algebra(facts);
  const Interval all = algebra.interval_union({index(2), index(5)}, {index(-1), {}});
  EXPECT_TRUE(is_int(all.min, -1));
  EXPECT_FALSE(all.max.defined());
}

}  // namespace
}  // namespace calotype::ir
