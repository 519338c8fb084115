// Fixed-point operations on constants, against their definitions in wide integers.

#include "calotype/fixed_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "calotype/error.h"
#include "ir/expr_node.h"
#include "ir/refused.h"

namespace calotype::ir {
namespace {

using wide = __int128;
using i64 = std::int64_t;

Expr typed(Type t, i64 bits) { return make_typed(make_int(t, bits)); }

wide number(const Expr& e) {
  const i64 bits = *as_int(e);
  return e->type.is_uint() ? wide{static_cast<std::uint64_t>(bits)} : wide{bits};
}

/// A number in the type, cut to 64 bits: wrapped, or the nearest end of the range.
i64 wrapped(Type t, wide value) { return *as_int(make_int(t, static_cast<i64>(value))); }
i64 saturated(Type t, wide value) {
  const wide low = t.min_int(), high = t == UInt(64) ? wide{UINT64_MAX} : wide{t.max_int()};
  return static_cast<i64>(value < low ? low : value > high ? high : value);
}

wide floor_half(wide value) { return value >> 1; }

/// round(a * 2^by), halves up, for |by| at most 64 or, from there on, in its limit. The numbers have up to 64
/// bits, so a shift left by as many is beyond every range.
wide scaled(wide a, int by) {
  if (by >= 64) return a == 0 ? 0 : a > 0 ? wide{1} << 100 : -(wide{1} << 100);
  if (by >= 0) return a * (wide{1} << by);
  if (by <= -66) return 0;
  return (a + (wide{1} << (-by - 1))) >> -by;
}

const std::vector<Type> kTypes = {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64)};

void check_pair(Type t, i64 p, i64 q) {
  const Expr x = typed(t, p), y = typed(t, q);
  const wide a = number(x), b = number(y);
  SCOPED_TRACE(testing::Message() << t.str() << " " << p << " " << q);
  ASSERT_EQ(*as_int(saturating_add(x, y)), saturated(t, a + b));
  ASSERT_EQ(*as_int(saturating_sub(x, y)), saturated(t, a - b));
  ASSERT_EQ(*as_int(halving_add(x, y)), wrapped(t, floor_half(a + b)));
  ASSERT_EQ(*as_int(rounding_halving_add(x, y)), wrapped(t, floor_half(a + b + 1)));
  ASSERT_EQ(*as_int(halving_sub(x, y)), wrapped(t, floor_half(a - b)));
  ASSERT_EQ(halving_sub(x, y).type(), t);
  if (t.bits == 64) return;
  const Type twice = t.is_int() ? Int(2 * t.bits) : UInt(2 * t.bits);
  ASSERT_EQ(number(widening_add(x, y)), a + b);
  ASSERT_EQ(number(widening_sub(x, y)), a - b);
  ASSERT_EQ(number(widening_mul(x, y)), a * b);
  ASSERT_EQ(widening_add(x, y).type(), twice);
  ASSERT_EQ(widening_sub(x, y).type(), Int(2 * t.bits));
  ASSERT_EQ(widening_mul(x, y).type(), twice);
  const Expr other = typed(t.is_int() ? UInt(t.bits) : Int(t.bits), q);
  ASSERT_EQ(number(widening_mul(x, other)), a * number(other));
  ASSERT_EQ(widening_mul(x, other).type(), Int(2 * t.bits));
}

TEST(FixedPoint, EveryPairOfBytes) {
  for (const Type t : {Int(8), UInt(8)}) {
    for (i64 a = t.min_int(); a <= t.max_int(); ++a) {
      for (i64 b = t.min_int(); b <= t.max_int(); ++b) check_pair(t, a, b);
      if (HasFatalFailure()) return;
    }
  }
}

/// Random numbers of every size, with the ends of the range among them.
std::vector<i64> numbers(Type t, int count) {
  std::mt19937_64 random(static_cast<unsigned>(t.bits));
  std::vector<i64> all = {
      0, 1, 2, t.is_int() ? -1 : 3, t.min_int(), t.max_int(), t.min_int() + 1, t.max_int() - 1};
  if (t == UInt(64)) all.insert(all.end(), {-1, -2, INT64_MIN});
  while (static_cast<int>(all.size()) < count)
    all.push_back(*as_int(make_int(t, static_cast<i64>(random()) >> (random() % 64))));
  return all;
}

TEST(FixedPoint, WiderNumbers) {
  for (const Type t : kTypes) {
    for (const i64 a : numbers(t, 60)) {
      for (const i64 b : numbers(t, 60)) check_pair(t, a, b);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(FixedPoint, RoundingShifts) {
  for (const Type t : kTypes) {
    for (const Type amount : {Int(8), UInt(8), Int(32), UInt(16), Int(64), UInt(64)}) {
      for (const i64 a : numbers(t, 40)) {
        for (const i64 by : numbers(amount, 12)) {
          const Expr x = typed(t, a), y = typed(amount, by);
          const wide distance = std::clamp<wide>(number(y), -70, 70);
          SCOPED_TRACE(testing::Message() << t.str() << " " << a << " by " << amount.str() << " " << by);
          ASSERT_EQ(*as_int(rounding_shift_left(x, y)),
                    saturated(t, scaled(number(x), static_cast<int>(distance))));
          ASSERT_EQ(*as_int(rounding_shift_right(x, y)),
                    saturated(t, scaled(number(x), -static_cast<int>(distance))));
        }
        for (int by = -70; by <= 70; ++by) {
          ASSERT_EQ(*as_int(rounding_shift_right(typed(t, a), typed(Int(32), by))),
                    saturated(t, scaled(number(typed(t, a)), -by)))
              << t.str() << " " << a << " by " << by;
        }
      }
    }
  }
}

TEST(FixedPoint, WideningShift) {
  for (const Type t : {Int(8), UInt(8), Int(32), UInt(32)}) {
    for (const i64 a : numbers(t, 30)) {
      for (int by = 0; by < 2 * t.bits; ++by) {
        const Type twice = t.is_int() ? Int(2 * t.bits) : UInt(2 * t.bits);
        const Expr got = widening_shift_left(typed(t, a), typed(Int(64), by));
        ASSERT_EQ(got.type(), twice);
        ASSERT_EQ(*as_int(got), wrapped(twice, number(typed(t, a)) << by))
            << t.str() << " " << a << " by " << by;
      }
      EXPECT_EQ(*as_int(widening_shift_left(typed(t, a), typed(Int(64), 2 * t.bits))), 0);
    }
  }
}

/// a * b / 2^q: of 64-bit numbers the product has 128 bits with its sign, so unsigned ones are cut before.
wide product_shifted(wide a, wide b, int q, bool is_unsigned, bool rounded) {
  using uwide = unsigned __int128;
  if (is_unsigned) {
    const uwide p = static_cast<uwide>(a) * static_cast<uwide>(b);
    if (q >= 128) return q == 128 && rounded && (p >> 127) != 0 ? 1 : 0;
    const uwide bit = rounded && q > 0 ? (p >> (q - 1)) & 1 : 0;
    const uwide result = (p >> q) + bit;
    return result >> 100 != 0 ? wide{1} << 100 : static_cast<wide>(result);
  }
  const wide p = a * b;
  if (q >= 128) return rounded ? 0 : p < 0 ? -1 : 0;
  return (p >> q) + (rounded && q > 0 ? (p >> (q - 1)) & 1 : 0);
}

TEST(FixedPoint, HighProducts) {
  for (const Type t : kTypes) {
    const std::vector<i64> all = numbers(t, t.bits == 64 ? 40 : 24);
    for (const i64 a : all) {
      for (const i64 b : all) {
        const Expr x = typed(t, a), y = typed(t, b);
        for (const int q :
             std::vector<int>{0, 1, t.bits - 1, t.bits, t.bits + 1, 7, 2 * t.bits - 1, 2 * t.bits, 200}) {
          SCOPED_TRACE(testing::Message() << t.str() << " " << a << " * " << b << " >> " << q);
          const auto want = [&](bool rounded) {
            return saturated(t, product_shifted(number(x), number(y), q, t.is_uint(), rounded));
          };
          ASSERT_EQ(*as_int(mul_shift_right(x, y, q)), want(false));
          ASSERT_EQ(*as_int(rounding_mul_shift_right(x, y, q)), want(true));
          ASSERT_EQ(*as_int(rounding_mul_shift_right(x, y, typed(UInt(8), q))), want(true));
        }
      }
    }
  }
}

TEST(FixedPoint, Refusals) {
  const Expr f = make_var(make_symbol(SymbolKind::Param, "f", Float(32)));
  const Expr w = make_var(make_symbol(SymbolKind::Param, "w", Int(64)));
  const Expr s = make_var(make_symbol(SymbolKind::Param, "s", Int(16)));
  refused([&] { return saturating_add(f, f); }, "'saturating_add' is not defined for the type f32",
          "integers");
  refused([&] { return halving_add(Expr(true), Expr(false)); }, "'halving_add'", "integers");
  refused([&] { return widening_mul(w, w); }, "'widening_mul' is not defined for the type s64",
          "at most 32 bits");
  refused([&] { return widening_shift_left(w, 1); }, "'widening_shift_left'", "at most 32 bits");
  refused([&] { return mul_shift_right(s, s, s); }, "'mul_shift_right'", "unsigned, or a literal >= 0");
  refused([&] { return mul_shift_right(s, s, -1); }, "'mul_shift_right'", "unsigned, or a literal >= 0");
  refused([&] { return rounding_shift_right(s, f); }, "'rounding_shift_right'", "integers");
  refused([&] { return saturating_add(s, 70000); }, "the literal 70000", "-32768 to 32767");
  refused([&] { return saturating_sub(Expr(), s); }, "undefined", "");
}

}  // namespace
}  // namespace calotype::ir
