// The arithmetic of the language, against definitions written in wide integers and native floats.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "ir/expr_node.h"
#include "ir/value.h"

namespace calotype::ir {
namespace {

using wide = __int128;
using i64 = std::int64_t;

/// The number that the int64 of a constant of the type stands for.
wide number(Type type, i64 bits) {
  return type.is_uint() ? wide{static_cast<std::uint64_t>(bits)} : wide{bits};
}

/// A number reduced to the range of the type: modulo 2^bits, by definition.
i64 wrapped(Type type, wide value) {
  const wide modulus = wide{1} << type.bits;
  wide rest = value % modulus;
  if (rest < 0) rest += modulus;
  if (type.is_int() && rest >= modulus / 2) rest -= modulus;
  return static_cast<i64>(rest);
}

wide floor_divide(wide a, wide b) {
  if (b == 0) return 0;
  const wide quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

/// a * 2^amount, floored, in the type; `amount` may be negative.
i64 shifted(Type type, wide a, wide amount) {
  if (amount >= type.bits) return 0;
  if (amount <= -wide{type.bits}) return a < 0 ? -1 : 0;
  return wrapped(type, amount >= 0 ? a * (wide{1} << amount) : floor_divide(a, wide{1} << -amount));
}

i64 folded(Op op, Type type, Type operand, i64 a, i64 b) {
  const Expr result = fold(op, type, {make_int(operand, a), make_int(operand, b)});
  EXPECT_TRUE(result.defined()) << info(op).name;
  EXPECT_EQ(result.type(), type);
  return *as_int(result);
}

void check_integers(Type t, i64 a, i64 b) {
  const wide x = number(t, a), y = number(t, b);
  const wide modulo = y == 0 ? 0 : ((x % y) + (y < 0 ? -y : y)) % (y < 0 ? -y : y);
  SCOPED_TRACE(testing::Message() << t.str() << " " << a << " " << b);
  ASSERT_EQ(folded(Op::Add, t, t, a, b), wrapped(t, x + y));
  ASSERT_EQ(folded(Op::Sub, t, t, a, b), wrapped(t, x - y));
  // wrapped() of the parts first: the product of two 64-bit numbers overflows no 128 bits, but signed ones
  // may.
  ASSERT_EQ(folded(Op::Mul, t, t, a, b), wrapped(t, wide{wrapped(Int(64), x)} * wrapped(Int(64), y)));
  ASSERT_EQ(folded(Op::Div, t, t, a, b), wrapped(t, floor_divide(x, y)));
  ASSERT_EQ(folded(Op::Mod, t, t, a, b), wrapped(t, modulo));
  ASSERT_EQ(folded(Op::TruncDiv, t, t, a, b), wrapped(t, y == 0 ? 0 : x / y));
  ASSERT_EQ(folded(Op::TruncMod, t, t, a, b), wrapped(t, y == 0 ? 0 : x % y));
  ASSERT_EQ(folded(Op::Min, t, t, a, b), x < y ? a : b);
  ASSERT_EQ(folded(Op::Max, t, t, a, b), x < y ? b : a);
  ASSERT_EQ(folded(Op::Lt, Bool(), t, a, b), x < y);
  ASSERT_EQ(folded(Op::Le, Bool(), t, a, b), x <= y);
  ASSERT_EQ(folded(Op::Eq, Bool(), t, a, b), x == y);
  ASSERT_EQ(folded(Op::Ne, Bool(), t, a, b), x != y);
  ASSERT_EQ(folded(Op::Shl, t, t, a, b), shifted(t, x, y));
  ASSERT_EQ(folded(Op::Shr, t, t, a, b), shifted(t, x, -y));
  ASSERT_EQ(folded(Op::BitAnd, t, t, a, b), a & b);
  ASSERT_EQ(folded(Op::BitOr, t, t, a, b), a | b);
  ASSERT_EQ(folded(Op::BitXor, t, t, a, b), wrapped(t, a ^ b));
}

TEST(Fold, EveryPairOfBytes) {
  for (const Type t : {Int(8), UInt(8)}) {
    for (i64 a = t.min_int(); a <= t.max_int(); ++a) {
      for (i64 b = t.min_int(); b <= t.max_int(); ++b) check_integers(t, a, b);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Fold, WiderIntegers) {
  std::mt19937_64 random(11);
  for (const Type t : {Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64)}) {
    std::vector<i64> values = {0,           1,           2,      wrapped(t, -1), wrapped(t, -2),
                               t.min_int(), t.max_int(), t.bits, t.bits - 1};
    for (int i = 0; i < 60; ++i) values.push_back(wrapped(t, static_cast<i64>(random() >> (random() % 64))));
    for (const i64 a : values) {
      for (const i64 b : values) check_integers(t, a, b);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Fold, ShiftAmountsKeepTheirOwnSign) {
  const auto shl = [](Type t, i64 a, Type u, i64 b) {
    return as_int(fold(Op::Shl, t, {make_int(t, a), make_int(u, b)}));
  };
  EXPECT_EQ(shl(UInt(32), 0x80000000, Int(32), -31), 1);
  EXPECT_EQ(shl(Int(32), -8, Int(32), -1), -4);
  EXPECT_EQ(shl(Int(8), 1, UInt(8), 255), 0);  // not -1
  EXPECT_EQ(shl(Int(64), -1, Int(64), INT64_MIN), -1);
}

TEST(Fold, IntegerUnary) {
  const auto unary = [](Op op, Type result, Type t, i64 a) {
    return as_int(fold(op, result, {make_int(t, a)}));
  };
  for (i64 a = -128; a < 128; ++a) {
    EXPECT_EQ(unary(Op::Neg, Int(8), Int(8), a), wrapped(Int(8), -a));
    EXPECT_EQ(unary(Op::Abs, UInt(8), Int(8), a), a < 0 ? -a : a);
    EXPECT_EQ(unary(Op::BitNot, Int(8), Int(8), a), -1 - a);
    EXPECT_EQ(unary(Op::BitNot, UInt(8), UInt(8), a & 255), 255 - (a & 255));
  }
  for (const Type t : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64)}) {
    std::mt19937_64 random(static_cast<unsigned>(t.bits));
    for (int k = 0; k < 300; ++k) {
      const i64 a = k == 0 ? 0 : wrapped(t, static_cast<i64>(random() >> (random() % 64)));
      int ones = 0, leading = 0, trailing = 0;
      for (int bit = 0; bit < t.bits; ++bit) {
        const bool one = ((static_cast<std::uint64_t>(a) >> bit) & 1) != 0;
        ones += one;
        leading = one ? 0 : leading + 1;
        trailing += !one && ones == 0;
      }
      EXPECT_EQ(unary(Op::Popcount, t, t, a), ones);
      EXPECT_EQ(unary(Op::CountLeadingZeros, t, t, a), leading);
      EXPECT_EQ(unary(Op::CountTrailingZeros, t, t, a), trailing);
    }
  }
  EXPECT_EQ(unary(Op::Abs, UInt(64), Int(64), INT64_MIN), INT64_MIN);  // the bits of 2^63
  EXPECT_EQ(unary(Op::Not, Bool(), Bool(), 1), 0);
  EXPECT_EQ(unary(Op::BitNot, Bool(), Bool(), 1), 0);
}

TEST(Fold, FloatArithmeticIsNative) {
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    const float a = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const float b = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const float c = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    const Expr x = make_float(Float(32), a), y = make_float(Float(32), b), z = make_float(Float(32), c);
    const auto expect = [&](Op op, const std::vector<Expr>& args, float wanted) {
      const auto got = static_cast<float>(*as_float(fold(op, Float(32), args)));
      if (std::isnan(wanted)) {
        ASSERT_TRUE(std::isnan(got)) << info(op).name;
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got), std::bit_cast<std::uint32_t>(wanted))
            << info(op).name << a << b;
      }
    };
    expect(Op::Add, {x, y}, a + b);
    expect(Op::Sub, {x, y}, a - b);
    expect(Op::Mul, {x, y}, a * b);
    expect(Op::Div, {x, y}, a / b);
    expect(Op::Mod, {x, y}, [&] {
      const volatile float product = b * std::floor(a / b);  // kept apart from the subtraction
      return a - product;
    }());
    expect(Op::Sqrt, {x}, std::sqrt(a));
    expect(Op::Fma, {x, y, z}, std::fma(a, b, c));
    // Operands of like size, where cancellation and ties happen.
    const Expr near = make_float(Float(32), -a * b);
    expect(Op::Fma, {x, y, near}, std::fma(a, b, -a * b));
    if (HasFatalFailure()) return;
  }
}

TEST(Fold, HalfArithmeticRoundsEachOperation) {
  std::mt19937 random(5);
  for (const Type t : {Float(16), BFloat(16)}) {
    const auto decode = t.code == TypeCode::BFloat ? bfloat_bits_to_float : half_bits_to_float;
    const auto encode = t.code == TypeCode::BFloat ? float_to_bfloat_bits : float_to_half_bits;
    for (int i = 0; i < 100000; ++i) {
      const float a = decode(static_cast<std::uint16_t>(random())),
                  b = decode(static_cast<std::uint16_t>(random()));
      const Expr x = make_float(t, a), y = make_float(t, b);
      const auto expect = [&](Op op, float in_float) {
        const double got = *as_float(fold(op, t, {x, y}));
        const float wanted =
            decode(encode(in_float));  // float has enough bits for this to round once in effect
        if (std::isnan(wanted)) {
          ASSERT_TRUE(std::isnan(got));
        } else {
          ASSERT_EQ(got, wanted) << t.str() << " " << info(op).name << " " << a << " " << b;
        }
      };
      expect(Op::Add, a + b);
      expect(Op::Mul, a * b);
      expect(Op::Div, a / b);
      if (HasFatalFailure()) return;
    }
  }
  const auto bf = [](double v) { return make_float(BFloat(16), v); };
  // c * d = 1.5 + 1.5 * 2^-7 lies midway between two bfloats: the tiny addend decides, though a double drops
  // it.
  const Expr c = bf(1 + 0x1p-7), d = bf(1 + 0x1p-1);
  EXPECT_EQ(as_float(fold(Op::Fma, BFloat(16), {c, d, bf(0)})), 1.5 + 0x1p-6);
  EXPECT_EQ(as_float(fold(Op::Fma, BFloat(16), {c, d, bf(-0x1p-100)})), 1.5 + 0x1p-7);
}

TEST(Fold, MinAndMaxPreferNumbers) {
  const Expr nan = make_float(Float(32), NAN), one = make_float(Float(32), 1);
  for (const Op op : {Op::Min, Op::Max}) {
    EXPECT_EQ(as_float(fold(op, Float(32), {nan, one})), 1.0);
    EXPECT_EQ(as_float(fold(op, Float(32), {one, nan})), 1.0);
    EXPECT_TRUE(std::isnan(*as_float(fold(op, Float(32), {nan, nan}))));
  }
  const Expr plus = make_float(Float(32), 0.0), minus = make_float(Float(32), -0.0);
  EXPECT_TRUE(std::signbit(*as_float(fold(Op::Min, Float(32), {plus, minus}))));
  EXPECT_FALSE(std::signbit(*as_float(fold(Op::Max, Float(32), {minus, plus}))));
  EXPECT_EQ(as_int(fold(Op::Lt, Bool(), {nan, one})), 0);
  EXPECT_EQ(as_int(fold(Op::Ne, Bool(), {nan, nan})), 1);
}

TEST(Fold, FloatToIntegerSaturates) {
  const auto to = [](Type t, double v) { return as_int(fold(Op::Cast, t, {make_float(Float(64), v)})); };
  for (const Type t : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64)}) {
    EXPECT_EQ(to(t, NAN), 0);
    EXPECT_EQ(to(t, 1e30), t.max_int());
    EXPECT_EQ(to(t, INFINITY), t.max_int());
    EXPECT_EQ(to(t, -1e30), t.min_int());
    EXPECT_EQ(to(t, 7.99), 7);
    EXPECT_EQ(to(t, -0.99), 0);
    if (t.bits < 64) {
      EXPECT_EQ(to(t, static_cast<double>(t.max_int()) - 1), t.max_int() - 1);
    }
  }
  EXPECT_EQ(to(UInt(64), 1e30), -1);
  EXPECT_EQ(to(UInt(64), 0x1p63), INT64_MIN);
  EXPECT_EQ(to(UInt(64), -3), 0);
  EXPECT_EQ(to(Int(64), -0x1p63), INT64_MIN);
  EXPECT_EQ(to(Bool(), 0.25), 1);
}

TEST(Fold, IntegerToFloatRoundsOnce) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 100000; ++i) {
    const auto value = static_cast<i64>(random() >> (random() % 40));
    EXPECT_EQ(as_float(fold(Op::Cast, Float(32), {make_int(Int(64), value)})), static_cast<float>(value));
    EXPECT_EQ(as_float(fold(Op::Cast, Float(64), {make_int(UInt(64), value)})),
              static_cast<double>(static_cast<std::uint64_t>(value)));
  }
  // Just above a tie of binary32 (and of bfloat16), which rounding to binary64 first would turn into the tie.
  const i64 f32_tie = (i64{1} << 60) + (i64{1} << 36) + 1;
  EXPECT_EQ(as_float(fold(Op::Cast, Float(32), {make_int(Int(64), f32_tie)})), 0x1p60 + 0x1p37);
  const i64 bf16_tie = (i64{1} << 60) + (i64{1} << 52) + 1;
  EXPECT_EQ(as_float(fold(Op::Cast, BFloat(16), {make_int(Int(64), -bf16_tie)})), -(0x1p60 + 0x1p53));
  EXPECT_EQ(as_float(fold(Op::Cast, Float(16), {make_int(Int(32), 70000)})), INFINITY);
}

TEST(Fold, NarrowingFloatsRoundsOnce) {
  // Just above a tie of binary16: rounding to binary32 on the way would lose the excess.
  EXPECT_EQ(as_float(fold(Op::Cast, Float(16), {make_float(Float(64), 1 + 0x1p-11 + 0x1p-40)})), 1 + 0x1p-10);
  EXPECT_EQ(as_float(fold(Op::Cast, BFloat(16), {make_float(Float(64), 1 + 0x1p-8 + 0x1p-40)})), 1 + 0x1p-7);
  EXPECT_EQ(as_float(fold(Op::Cast, Float(16), {make_float(Float(32), 0x1p-25f)})), 0.0);
  EXPECT_EQ(as_float(fold(Op::Cast, Float(16), {make_float(Float(32), 0x1.8p-25f)})), 0x1p-24);
}

TEST(Fold, IntegerCastsWrap) {
  EXPECT_EQ(as_int(fold(Op::Cast, UInt(8), {make_int(Int(32), -1)})), 255);
  EXPECT_EQ(as_int(fold(Op::Cast, Int(8), {make_int(Int(32), 200)})), -56);
  EXPECT_EQ(as_int(fold(Op::Cast, Int(64), {make_int(UInt(32), 0xffffffff)})), 0xffffffff);
  EXPECT_EQ(as_int(fold(Op::Cast, Bool(), {make_int(Int(32), 256)})), 1);
}

TEST(Fold, Bitcast) {
  EXPECT_EQ(as_int(fold(Op::Bitcast, UInt(32), {make_float(Float(32), 1.5)})), 0x3fc00000);
  EXPECT_EQ(as_int(fold(Op::Bitcast, Int(16), {make_float(BFloat(16), -2)})),
            static_cast<std::int16_t>(0xc000));
  EXPECT_EQ(as_float(fold(Op::Bitcast, Float(16), {make_int(UInt(16), 0x3555)})), half_bits_to_float(0x3555));
  EXPECT_EQ(as_float(fold(Op::Bitcast, Float(64), {make_int(Int(64), 0x4000000000000000)})), 2.0);
}

TEST(Fold, MathRoundsTheDoubleResult) {
  const Expr x = make_float(Float(32), 0.7f);
  const double v = 0.7f;
  const std::pair<Op, double> wanted[] = {
      {Op::Exp, std::exp(v)},     {Op::Log, std::log(v)},     {Op::Sqrt, std::sqrt(v)},
      {Op::Tanh, std::tanh(v)},   {Op::Erf, std::erf(v)},     {Op::Rsqrt, 1.0 / std::sqrt(v)},
      {Op::Sin, std::sin(v)},     {Op::Cos, std::cos(v)},     {Op::FastExp, std::exp(v)},
      {Op::FastSin, std::sin(v)}, {Op::FastCos, std::cos(v)}, {Op::FastTanh, std::tanh(v)}};
  for (const auto& [op, value] : wanted) {
    EXPECT_EQ(as_float(fold(op, Float(32), {x})), static_cast<float>(value)) << info(op).name;
  }
  EXPECT_EQ(as_float(fold(Op::FastDivide, Float(32), {x, make_float(Float(32), 3)})), 0.7f / 3.0f);
  EXPECT_EQ(as_float(fold(Op::Pow, Float(32), {x, make_float(Float(32), 3)})), static_cast<float>(v * v * v));
  const std::tuple<double, double, double, double, double> rounding[] = {
      {2.5, 2, 3, 2, 2}, {3.5, 3, 4, 3, 4}, {-2.5, -3, -2, -2, -2}, {-0.3, -1, 0, 0, 0}};
  for (const auto& [in, floor, ceil, trunc, round] : rounding) {
    const std::vector<Expr> args = {make_float(Float(64), in)};
    EXPECT_EQ(as_float(fold(Op::Floor, Float(64), args)), floor);
    EXPECT_EQ(as_float(fold(Op::Ceil, Float(64), args)), ceil);
    EXPECT_EQ(as_float(fold(Op::Trunc, Float(64), args)), trunc);
    EXPECT_EQ(as_float(fold(Op::Round, Float(64), args)), round);
  }
}

TEST(Fold, OnlyScalarConstantsFold) {
  const Expr x = make_var(var_symbol("x"));
  EXPECT_FALSE(fold(Op::Add, Int(64), {x, index(1)}).defined());
  EXPECT_FALSE(fold(Op::Ramp, Int(64, 4), {index(0), index(1)}).defined());
  EXPECT_FALSE(fold(Op::Broadcast, Int(64, 4), {index(0)}).defined());
  EXPECT_FALSE(fold(Op::Add, Int(64, 4), {make_int(Int(64, 4), 1), make_int(Int(64, 4), 2)}).defined());
  EXPECT_EQ(as_int(fold(Op::Select, Int(64), {make_int(Bool(), 0), index(3), index(4)})), 4);
  EXPECT_EQ(as_int(fold(Op::Likely, Int(64), {index(3)})), 3);
}

}  // namespace
}  // namespace calotype::ir
