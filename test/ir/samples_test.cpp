// Points where the facts hold: none contradicts them, and what the facts leave open has both signs at some.
#include "ir/samples.h"

#include <gtest/gtest.h>

#include "ir/simplify_analysis.h"

namespace calotype::ir::algebra {
namespace {

Expr symbol(const char* name, Type type = Int(64)) {
  return make_var(make_symbol(SymbolKind::Let, name, type));
}

/// Points at which an expression is known, and whether it is negative at any of them.
struct Signs {
  explicit Signs(const Facts& facts) : ranges(facts) {}
  Samples::Set negative(const Expr& e) { return ranges.samples().negative(Linear::of_atom(e)); }
  Samples::Set nonnegative(const Expr& e) { return ranges.samples().nonnegative(Linear::of_atom(e)); }
  bool holds(const Expr& e) { return negative(e) == 0 && nonnegative(e) != 0; }
  bool is_open(const Expr& e) { return negative(e) != 0 && nonnegative(e) != 0; }
  Ranges ranges;
};

TEST(Samples, KeepToTheFacts) {
  const Expr width = symbol("width"), tiles = symbol("tiles"), tile = symbol("tile"), x = symbol("x");
  Facts facts;
  facts.set_range(symbol_of(width), index(1), {});
  facts.set_value(symbol_of(tiles), (width + 15) / 16);
  facts.set_range(symbol_of(tile), index(0), tiles - 1);
  facts.set_range(symbol_of(x), tile * 16, min(tile * 16 + 15, width - 1));
  Signs signs(facts);
  EXPECT_TRUE(signs.holds(width - 1));
  EXPECT_TRUE(signs.holds(tiles * 16 - width));
  EXPECT_TRUE(signs.holds(width + 15 - tiles * 16));
  EXPECT_TRUE(signs.holds(tiles - 1 - tile));
  EXPECT_TRUE(signs.holds(width - 1 - x));
  EXPECT_TRUE(signs.holds(tile * 16 + 15 - x));
  EXPECT_TRUE(signs.holds(15 - x % 16));
  EXPECT_TRUE(signs.is_open(width - 17));
  EXPECT_TRUE(signs.is_open(width - 1 - (x + 1)));
  EXPECT_TRUE(signs.is_open(width - (tile * 16 + 16)));
  EXPECT_TRUE(signs.is_open(x - 100));
}

TEST(Samples, AreMultiplesAndInTheirTypes) {
  const Expr m = symbol("m"), small = symbol("small", UInt(8)), flag = symbol("flag", Bool());
  Facts facts;
  facts.set_range(symbol_of(m), index(-40), index(40));
  facts.set_multiple(symbol_of(m), 16);
  Signs signs(facts);
  EXPECT_TRUE(signs.holds(-(m % 16)));
  EXPECT_TRUE(signs.holds(m % 8));
  EXPECT_TRUE(signs.holds(32 - m));
  EXPECT_TRUE(signs.is_open(m));
  EXPECT_TRUE(signs.holds(255 - cast(Int(64), small)));
  EXPECT_TRUE(signs.is_open(100 - cast(Int(64), small)));
  EXPECT_TRUE(signs.holds(select(flag, m + 40, 40 - m)));
  EXPECT_TRUE(signs.is_open(select(flag, index(1), index(-1))));
}

TEST(Samples, SayNothingOfWhatTheyDoNotCompute) {
  const Expr f = symbol("f", Float(32)), wide = symbol("wide", UInt(64)), narrow = symbol("narrow", Int(8));
  const Facts facts;
  Signs signs(facts);
  for (const Expr& e : {cast(Int(64), f), cast(Int(64), wide), cast(Int(64), cast(Int(64), f) / 2)})
    EXPECT_EQ(signs.negative(e) | signs.nonnegative(e), 0) << to_string(e);
  // Where a sum wraps it is not known.
  const Expr sum = make(Op::Add, Int(8), {narrow, make_int(Int(8), 100)});
  EXPECT_EQ(signs.negative(make(Op::Sub, Int(64), {cast(Int(64), sum), cast(Int(64), narrow)})), 0);
}

TEST(Samples, OfFactsInCirclesOrWithoutAnyValue) {
  const Expr a = symbol("a"), b = symbol("b"), never = symbol("never");
  Facts facts;
  facts.set_range(symbol_of(a), index(0), b);
  facts.set_range(symbol_of(b), a, {});
  facts.set_range(symbol_of(never), index(5), index(4));
  Signs signs(facts);
  EXPECT_EQ(signs.negative(b - a), 0);
  EXPECT_EQ(signs.negative(never) | signs.nonnegative(never), 0);
}

}  // namespace
}  // namespace calotype::ir::algebra
