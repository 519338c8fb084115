// Which expressions are products of narrow integers, and which only look like one.
#include "ir/narrow_product.h"

#include <gtest/gtest.h>

#include "calotype/calotype.h"

namespace calotype::ir {
namespace {

constexpr int kLanes = 8;

Expr vector_of(Type type, const char* name) {
  return make_var(make_symbol(SymbolKind::Let, name, type.with_lanes(kLanes)));
}

Expr as(Type type, const Expr& e) { return make(Op::Cast, type.with_lanes(kLanes), {e}); }

Expr times(const Expr& a, const Expr& b) { return make(Op::Mul, a->type, {a, b}); }

const Expr a = vector_of(Int(8), "a"), b = vector_of(UInt(8), "b"), c = vector_of(Int(16), "c"),
           d = vector_of(UInt(16), "d"), wide = vector_of(Int(32), "wide");

void expect_factors(const Expr& e, const Expr& x, const Expr& y, int bits) {
  const auto product = narrow_product(e);
  ASSERT_TRUE(product) << to_string(e);
  EXPECT_TRUE(equal(product->x, x)) << to_string(e);
  EXPECT_TRUE(y.defined() ? equal(product->y, y) : !product->y.defined()) << to_string(e);
  EXPECT_EQ(product->bits(), bits) << to_string(e);
}

TEST(NarrowProduct, OfWideFactors) {
  for (const Type t : {Int(32), UInt(32)}) {
    expect_factors(times(as(t, a), as(t, b)), a, b, 8);
    expect_factors(times(as(t, as(Int(16), a)), as(t, c)), a, c, 16);
    expect_factors(times(as(t, d), as(t, d)), d, d, 16);
  }
}

TEST(NarrowProduct, OfAProductThatIsWidened) {
  expect_factors(as(Int(32), times(as(Int(16), a), as(Int(16), b))), a, b, 8);
  expect_factors(as(Int(32), times(as(UInt(16), b), as(UInt(16), b))), b, b, 8);
  expect_factors(as(UInt(32), times(as(Int(16), a), as(Int(16), a))), a, a, 8);
}

TEST(NarrowProduct, OfOneFactorAndOfConstants) {
  expect_factors(as(Int(32), b), b, {}, 8);
  expect_factors(times(as(Int(32), a), make_int(Int(32, kLanes), -3)), a, make_int(Int(8, kLanes), -3), 8);
  expect_factors(times(as(Int(32), a), make_int(Int(32, kLanes), 200)), a, make_int(UInt(8, kLanes), 200), 8);
  expect_factors(times(as(Int(32), a), make_int(Int(32, kLanes), 300)), a, make_int(UInt(16, kLanes), 300),
                 16);
}

TEST(NarrowProduct, UnderAMask) {
  const Expr mask = vector_of(Bool(), "mask"), product = times(as(Int(32), a), as(Int(32), b));
  const Expr zero = make_zero(Int(32, kLanes)), one = make_one(Int(32, kLanes));
  const auto found = narrow_product(make(Op::Select, product->type, {mask, product, zero}));
  ASSERT_TRUE(found);
  EXPECT_TRUE(equal(found->mask, mask));
  EXPECT_FALSE(narrow_product(make(Op::Select, product->type, {mask, product, one})));
}

TEST(NarrowProduct, WrapsNowhereOnTheWay) {
  // u8 * u8 is no s16; s8 * s8 is no u16 or s8; a value that was cut is one of its narrow type.
  EXPECT_FALSE(narrow_product(as(Int(32), times(as(Int(16), b), as(Int(16), b)))) &&
               narrow_product(as(Int(32), times(as(Int(16), b), as(Int(16), b))))->y.defined());
  EXPECT_FALSE(narrow_product(as(Int(32), times(as(UInt(16), a), as(UInt(16), a))))->y.defined());
  expect_factors(as(Int(32), times(a, a)), times(a, a), {}, 8);
  const Expr cut = as(Int(8), c);
  expect_factors(times(as(Int(32), cut), as(Int(32), b)), cut, b, 8);
}

TEST(NarrowProduct, IsOf32Bits) {
  EXPECT_FALSE(narrow_product(times(as(Int(64), a), as(Int(64), b))));
  EXPECT_FALSE(narrow_product(times(wide, as(Int(32), b))));
  EXPECT_FALSE(narrow_product(times(as(Int(16), a), as(Int(16), b))));
  EXPECT_FALSE(narrow_product(make(Op::Add, wide->type, {as(Int(32), a), as(Int(32), b)})));
}

}  // namespace
}  // namespace calotype::ir
