// Divisors that are claimed hold, and those that vectors rest on are found.

#include "codegen/cuda/alignment.h"

#include <gtest/gtest.h>

#include <random>

#include "samples.h"

namespace {

using namespace calotype_test;

TEST(Alignment, FindsWhatIndicesAreMadeOf) {
  const auto y = symbol("y"), stride = symbol("stride"), t = symbol("t"), base = symbol("base");
  ir::Facts facts;
  facts.symbols[stride].multiple = 8;
  EXPECT_EQ(cuda::power_of_two_divisor(add(mul(var(y), var(stride)), mul(var(t), number(4))), facts), 4);
  EXPECT_EQ(cuda::power_of_two_divisor(mul(var(y), var(stride)), facts), 8);
  EXPECT_EQ(cuda::power_of_two_divisor(mul(var(y), mul(var(stride), number(4))), facts), 16);
  EXPECT_EQ(cuda::power_of_two_divisor(add(mul(var(y), number(8)), number(3)), facts), 1);
  facts.set_value(base, mul(var(t), number(16)));
  EXPECT_EQ(cuda::power_of_two_divisor(to(Int(64), var(base)), facts), 16);
  EXPECT_EQ(cuda::power_of_two_divisor(node(Op::TruncDiv, Int(32), {var(base), number(4)}), facts), 4);
  EXPECT_EQ(cuda::power_of_two_divisor(number(0), facts), 16);
}

Expr random_expr(std::mt19937& random, const std::vector<ir::SymbolPtr>& symbols, int depth) {
  const auto sub = [&] { return random_expr(random, symbols, depth - 1); };
  if (depth == 0)
    return random() % 2 ? var(symbols[random() % symbols.size()])
                        : number(static_cast<int>(random() % 64) - 32);
  switch (random() % 9) {
    case 0:
      return node(Op::Sub, Int(32), {sub(), sub()});
    case 1:
      return mul(sub(), sub());
    case 2:
      return node(Op::Min, Int(32), {sub(), sub()});
    case 3:
      return node(Op::Div, Int(32), {sub(), number(1 << (random() % 4))});
    case 4:
      return node(Op::Mod, Int(32), {sub(), number(1 << (random() % 5))});
    case 5:
      return to(Int(32), to(Int(8), sub()));
    case 6:
      return node(Op::Select, Int(32), {less(sub(), sub()), sub(), sub()});
    case 7:
      return node(Op::Neg, Int(32), {sub()});
    default:
      return add(sub(), sub());
  }
}

TEST(Alignment, NeverClaimsTooMuch) {
  std::mt19937 random(5);
  const std::vector<ir::SymbolPtr> symbols{symbol("a"), symbol("b")};
  ir::Facts facts;
  facts.symbols[symbols[1]].multiple = 8;
  int useful = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Expr e = random_expr(random, symbols, 3);
    const int divisor = cuda::power_of_two_divisor(e, facts);
    useful += divisor > 1;
    const Expr at = ir::substitute(e, {{symbols[0], number(static_cast<int>(random()))},
                                       {symbols[1], number(static_cast<int>(random()) & ~7)}});
    const Expr value = ir::rewrite(
        at, [](const Expr& n) { return ir::is_const(n) ? n : ir::fold(n->op, n->type, n->args); });
    ASSERT_EQ(*ir::as_int(value) % divisor, 0) << ir::to_string(e) << " = " << ir::to_string(value);
  }
  EXPECT_GT(useful, 300);
}

}  // namespace
