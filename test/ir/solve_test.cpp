// Linear decomposition and conditions solved for a symbol, against trying every value.

#include <gtest/gtest.h>

#include "ir/simplify.h"
#include "simplify_random.h"

namespace calotype::ir {
namespace {

using testing::Environment;
using testing::Evaluator;
using testing::Generator;

Expr named(const char* name, Type type = Int(64)) {
  return make_var(make_symbol(SymbolKind::Loop, name, type));
}

class Solve : public ::testing::Test {
 protected:
  std::string solved(const Expr& condition) const {
    const auto i = solve_for(condition, symbol_of(x));
    if (!i) return "none";
    const auto end = [](const Expr& e) { return e.defined() ? to_string(e) : std::string("-"); };
    return "[" + end(i->min) + ", " + end(i->max) + "]";
  }
  Expr x = named("x"), y = named("y"), z = named("z");
};

TEST_F(Solve, LinearIn) {
  const auto l = linear_in((x + y) * 3 - x + 4, symbol_of(x));
  ASSERT_TRUE(l);
  EXPECT_EQ(l->coefficient, 2);
  EXPECT_EQ(to_string(l->rest), "y*3 + 4");
  EXPECT_EQ(linear_in(y + 1, symbol_of(x))->coefficient, 0);
  EXPECT_EQ(linear_in(x, symbol_of(x))->coefficient, 1);
  EXPECT_TRUE(is_zero(linear_in(x, symbol_of(x))->rest));
  for (const Expr& e : {x * y, x * x, x / 2 + x, min(x, y) + x})
    EXPECT_FALSE(linear_in(e, symbol_of(x))) << to_string(e);
}

TEST_F(Solve, Comparisons) {
  EXPECT_EQ(solved(x < y), "[-, y - 1]");
  EXPECT_EQ(solved(x >= y), "[y, -]");
  EXPECT_EQ(solved(x * 8 + 7 < y), "[-, y/8 - 1]");
  EXPECT_EQ(solved(x * 2 > y), "[y/2 + 1, -]");
  EXPECT_EQ(solved(y - x < 3), "[y - 2, -]");
  EXPECT_EQ(solved(!(x < y)), "[y, -]");
  EXPECT_EQ(solved(x == y + 1), "[y + 1, y + 1]");
  EXPECT_EQ(solved(0 <= x && x < y), "[0, y - 1]");
  EXPECT_EQ(solved(likely(0 <= x) && likely(x < y)), "[0, y - 1]");
  EXPECT_EQ(solved(x / 4 < y), "[-, y*4 - 1]");
  EXPECT_EQ(solved(max(x, y) < z), "none");
  EXPECT_EQ(solved(max(x, 3) < 8), "[-, 7]");
  EXPECT_EQ(solved(min(x + 1, x + 5) >= 2), "[1, -]");
}

TEST_F(Solve, WhatIsNotSolvable) {
  for (const Expr& c : {y < z, x != y, x < y || x > z, x * x < y, x % 4 < 2, x < y && y < z})
    EXPECT_EQ(solved(c), "none") << to_string(c);
  EXPECT_EQ(solved(x < x + 1), "[-, -]");
  EXPECT_EQ(solved(x < x), "[1, 0]");
}

/// The interval is exactly where the condition holds.
TEST_F(Solve, MatchesTryingEveryValue) {
  int solutions = 0;
  for (std::uint32_t seed = 0; seed < 600; ++seed) {
    Generator g(seed, {y, z});
    const auto comparison = [&]() -> Expr {
      const std::int64_t c = g.number(1, 9) * (g.chance(2) ? 1 : -1);
      Expr left = x * c + g.integer(1);
      if (g.chance(4)) left = left / g.number(1, 6);
      if (g.chance(6)) left = likely(left);
      const Expr right = g.integer(1);
      const Op ops[] = {Op::Lt, Op::Le, Op::Eq};
      const Op op = ops[g.number(0, 2)];
      Expr r = g.chance(2) ? make(op, Bool(), {left, right}) : make(op, Bool(), {right, left});
      return op != Op::Eq && g.chance(4) ? !r : r;
    };
    const Expr condition = g.chance(2) ? comparison() : comparison() && comparison();
    const auto interval = solve_for(condition, symbol_of(x));
    ASSERT_TRUE(interval) << to_string(condition);
    for (int k = 0; k < 8; ++k) {
      Environment point{{symbol_of(y)->unique, g.number(-30, 30)}, {symbol_of(z)->unique, g.number(-30, 30)}};
      const auto end = [&](const Expr& e, std::int64_t open) {
        return e.defined() ? *Evaluator(point)(e) : open;
      };
      const std::int64_t low = end(interval->min, INT64_MIN), high = end(interval->max, INT64_MAX);
      for (std::int64_t i = -60; i <= 60; ++i) {
        point[symbol_of(x)->unique] = i;
        const bool holds = *Evaluator(point)(condition) != 0;
        ASSERT_EQ(holds, low <= i && i <= high)
            << "seed " << seed << ": x = " << i << " in " << to_string(condition);
        solutions += holds;
      }
    }
  }
  EXPECT_GT(solutions, 1000);
}

}  // namespace
}  // namespace calotype::ir
