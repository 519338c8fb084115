// Operations on integers, bits and choices: on constants against definitions in wide integers, and their
// refusals.

#include "calotype/integer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "calotype/error.h"
#include "ir/expr_node.h"
#include "ir/refused.h"
#include "ir/simplify.h"

namespace calotype::ir {
namespace {

using wide = __int128;
using i64 = std::int64_t;

Expr typed(Type t, i64 bits) { return make_typed(make_int(t, bits)); }
Expr variable(const std::string& name, Type type) {
  return make_var(make_symbol(SymbolKind::Param, name, type));
}

wide number(const Expr& e) {
  const i64 bits = *as_int(e);
  return e->type.is_uint() ? wide{static_cast<std::uint64_t>(bits)} : wide{bits};
}

const std::vector<Type> kTypes = {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64)};

std::vector<i64> numbers(Type t, int count) {
  std::mt19937_64 random(static_cast<unsigned>(t.bits) + 3);
  std::vector<i64> all = {
      0, 1, 2, t.is_int() ? -1 : 3, t.min_int(), t.max_int(), t.min_int() + 1, t.max_int() - 1};
  if (t == UInt(64)) all.insert(all.end(), {-1, INT64_MIN});
  while (static_cast<int>(all.size()) < count)
    all.push_back(*as_int(make_int(t, static_cast<i64>(random()) >> (random() % 64))));
  return all;
}

TEST(Integer, DifferenceAndDivision) {
  for (const Type t : kTypes) {
    for (const i64 p : numbers(t, 70)) {
      for (const i64 q : numbers(t, 70)) {
        const Expr x = typed(t, p), y = typed(t, q);
        const wide a = number(x), b = number(y);
        SCOPED_TRACE(testing::Message() << t.str() << " " << p << " " << q);
        ASSERT_EQ(number(absd(x, y)), a < b ? b - a : a - b);
        ASSERT_EQ(absd(x, y).type(), UInt(t.bits));
        ASSERT_EQ(*as_int(div_round_to_zero(x, y)),
                  *as_int(make_int(t, static_cast<i64>(b == 0 ? 0 : a / b))));
        ASSERT_EQ(number(mod_round_to_zero(x, y)), b == 0 ? 0 : a % b);
        ASSERT_EQ(mod_round_to_zero(x, y).type(), t);
      }
    }
  }
}

/// Bit `at` of a number in the type; 0 where it has none.
bool bit(Type t, i64 bits, i64 at) {
  return at >= 0 && at < t.bits && ((static_cast<std::uint64_t>(bits) >> at) & 1) != 0;
}

TEST(Integer, ExtractBits) {
  for (const Type from : kTypes)
    for (const i64 number : numbers(from, 20))
      for (const Type to : kTypes)
        for (const i64 lowest : {-70, -64, -9, -1, 0, 1, 3, 7, 8, 15, 16, 31, 33, 63, 64, 100}) {
          // The position as a literal and as a value of a type of its own.
          for (const Expr& at : {Expr(static_cast<int>(lowest)), typed(Int(16), lowest)}) {
            const Expr got = extract_bits(to, typed(from, number), at);
            ASSERT_EQ(got.type(), to);
            ASSERT_TRUE(is_const(got)) << got.str();
            for (int i = 0; i < to.bits; ++i)
              ASSERT_EQ(bit(to, *as_int(got), i), bit(from, number, lowest + i))
                  << from.str() << " " << number << " from " << lowest << " as " << to.str() << ", bit " << i;
          }
        }
  EXPECT_EQ(*as_int(extract_bits<std::uint8_t>(make_typed(make_float(Float(32), 1.0)), 23)), 0x7f);
  EXPECT_EQ(*as_float(extract_bits<float>(typed(UInt(64), i64{0x3f800000} << 8), 8)), 1.0);
  refused([] { return extract_bits<std::uint8_t>(variable("b", Bool()), 0); },
          "'extract_bits' is not defined for the type bool of 'b'", "an integer or float");
  refused([] { return extract_bits<bool>(variable("x", Int(32)), 0); }, "bits of 'x' are extracted as bool",
          "a comparison");
  refused([] { return extract_bits<int>(variable("x", Int(32)), 1.5f); }, "'extract_bits' is not defined",
          "integers");
}

TEST(Integer, ConcatBits) {
  for (const Type t : kTypes)
    for (const int count : {1, 2, 4, 8}) {
      if (count * t.bits > 64) continue;
      const std::vector<i64> all = numbers(t, 40);
      for (std::size_t first = 0; first + static_cast<std::size_t>(count) <= all.size(); ++first) {
        std::vector<Expr> parts;
        for (int i = 0; i < count; ++i) parts.push_back(typed(t, all[first + static_cast<std::size_t>(i)]));
        const Expr got = concat_bits(parts);
        ASSERT_EQ(got.type(), t.is_int() ? Int(count * t.bits) : UInt(count * t.bits));
        for (int i = 0; i < count; ++i) {
          ASSERT_EQ(*as_int(extract_bits(t, got, i * t.bits)), all[first + static_cast<std::size_t>(i)])
              << t.str() << " part " << i << " of " << count;
          for (int b = 0; b < t.bits; ++b)
            ASSERT_EQ(bit(got.type(), *as_int(got), i * t.bits + b),
                      bit(t, all[first + static_cast<std::size_t>(i)], b));
        }
      }
    }
  EXPECT_EQ(*as_int(concat_bits({typed(UInt(8), 1), 2})), 0x201);
  const Expr x = variable("x", UInt(16)), wide = variable("w", UInt(32)), f = variable("f", Float(32));
  refused([&] { return concat_bits({}); }, "'concat_bits' of 0 parts", "1, 2, 4 or 8");
  refused([&] { return concat_bits({x, x, x}); }, "'concat_bits' of 3 parts", "1, 2, 4 or 8");
  refused([&] { return concat_bits({wide, wide, wide, wide}); }, "'concat_bits' of 4 parts",
          "at most 64 bits");
  refused([&] { return concat_bits({x, wide}); }, "'x' of type u16 and 'w' of type u32", "one type");
  refused([&] { return concat_bits({f, f}); }, "'concat_bits' is not defined for the type f32", "integers");
}

TEST(Integer, DivisionByAConstantKeepsRangesTight) {
  const SymbolPtr x = make_symbol(SymbolKind::Loop, "x", Int(64));
  Scope scope = make_scope();
  scope[x] = {index(-7), index(20)};
  const Interval r = bounds_of(div_round_to_zero(make_var(x), 4), scope, {});
  EXPECT_EQ(as_int(r.min), -1);
  EXPECT_EQ(as_int(r.max), 5);
  const Interval rest = bounds_of(mod_round_to_zero(make_var(x), 4), scope, {});
  EXPECT_GE(as_int(rest.min).value(), -4);
  EXPECT_LE(as_int(rest.max).value(), 3);
}

TEST(Integer, CountsHaveRanges) {
  const SymbolPtr x = make_symbol(SymbolKind::Loop, "x", Int(64));
  Scope scope = make_scope();
  scope[x] = {index(0), index(1000)};
  for (const auto& count : {popcount, count_leading_zeros, count_trailing_zeros}) {
    const Interval r = bounds_of(count(cast(UInt(16), make_var(x))) + 3, scope, {});
    EXPECT_EQ(as_int(r.min), 3);
    EXPECT_EQ(as_int(r.max), 19);
  }
}

/// The whole weight of n bits that a weight stands for.
wide parts(const Expr& weight, int n) {
  const wide most = (wide{1} << n) - 1;
  if (weight->type.is_float()) {
    const double w = *as_float(weight);
    const double scaled = n == 32 || weight->type.bits == 64
                              ? w * static_cast<double>(most)
                              : static_cast<float>(w) * static_cast<float>(most);
    return scaled <= 0 || std::isnan(scaled)     ? 0
           : scaled >= static_cast<double>(most) ? most
                                                 : static_cast<wide>(scaled);
  }
  return number(weight) * most / ((wide{1} << weight->type.bits) - 1);
}

TEST(Integer, LerpOfIntegers) {
  for (const Type t : kTypes) {
    if (t.bits == 64) continue;
    std::vector<Expr> weights;
    for (const Type w : {UInt(8), UInt(16), UInt(32), UInt(64)})
      for (const i64 v : numbers(w, 16)) weights.push_back(typed(w, v));
    for (const double v : {-0.5, 0.0, 0.25, 0.5, 0.999, 1.0, 1.5}) {
      weights.push_back(make_typed(make_float(Float(32), v)));
      weights.push_back(make_typed(make_float(Float(64), v)));
    }
    const wide most = (wide{1} << t.bits) - 1;
    for (const i64 p : numbers(t, 20)) {
      for (const i64 q : numbers(t, 20)) {
        for (const Expr& weight : weights) {
          const Expr x = typed(t, p), y = typed(t, q), got = lerp(x, y, weight);
          const wide w = parts(weight, t.bits);
          const wide sum = number(x) * (most - w) + number(y) * w + most / 2;
          const wide want = sum >= 0 ? sum / most : -((-sum + most - 1) / most);
          ASSERT_EQ(number(got), want)
              << t.str() << " " << p << " " << q << " by " << weight.str() << " " << weight.type().str();
          ASSERT_EQ(got.type(), t);
        }
      }
    }
  }
}

TEST(Integer, LerpOfFloatsAndBools) {
  const auto real = [](double v) { return make_typed(make_float(Float(32), v)); };
  EXPECT_EQ(*as_float(lerp(real(2), real(10), 0.25f)), 4);
  EXPECT_EQ(*as_float(lerp(real(2), real(10), typed(UInt(8), 255))), 10);
  EXPECT_FLOAT_EQ(static_cast<float>(*as_float(lerp(real(0), real(255), typed(UInt(8), 7)))), 7);
  EXPECT_FLOAT_EQ(static_cast<float>(*as_float(lerp(real(0), real(3), typed(UInt(32), INT32_MAX)))), 1.5f);
  EXPECT_EQ(*as_int(lerp(Expr(true), Expr(false), 0.5f)), 1);
  EXPECT_EQ(*as_int(lerp(Expr(true), Expr(false), 0.6f)), 0);
  EXPECT_EQ(*as_int(lerp(Expr(true), Expr(false), typed(UInt(8), 127))), 1);
  EXPECT_EQ(*as_int(lerp(Expr(true), Expr(false), typed(UInt(64), -1))), 0);
  EXPECT_EQ(lerp(variable("h", Float(16)), 1, 0.5f).type(), Float(16));
  EXPECT_EQ(lerp(variable("u", UInt(8)), 200, 0.5f).type(), UInt(8));
}

TEST(Integer, MuxChoosesByNumber) {
  const std::vector<Expr> values = {typed(Int(16), 7), typed(Int(16), -3), typed(Int(16), 11)};
  for (i64 i = -2; i < 5; ++i) {
    const i64 want = i == 0 ? 7 : i == 1 ? -3 : 11;
    EXPECT_EQ(as_int(mux(typed(Int(32), i), values)), want) << i;
  }
  EXPECT_EQ(as_int(mux(typed(UInt(8), 200), values)), 11);
  EXPECT_EQ(mux(variable("i", Int(32)), {1, variable("f", Float(32))}).type(), Float(32));
}

TEST(Integer, Reinterpret) {
  EXPECT_EQ(as_int(reinterpret<std::uint32_t>(Expr(1.5f))), 0x3fc00000);
  EXPECT_EQ(as_float(reinterpret<float>(typed(UInt(32), 0x3fc00000))), 1.5);
  EXPECT_EQ(as_int(reinterpret<std::int8_t>(typed(UInt(8), 200))), -56);
  EXPECT_EQ(reinterpret(Float(16), variable("u", UInt(16))).type(), Float(16));
  EXPECT_EQ(to_string(reinterpret<float>(variable("u", UInt(32)))), "bitcast<f32>(u)");
}

TEST(Integer, Refusals) {
  const Expr f = variable("f", Float(32)), s = variable("s", Int(32)), w = variable("w", Int(64));
  refused([&] { return popcount(f); }, "'popcount' is not defined for the type f32 of 'f'", "integers");
  refused([&] { return count_leading_zeros(f < 1); }, "'count_leading_zeros'", "integers");
  refused([&] { return div_round_to_zero(f, f); }, "'div_round_to_zero'", "integers");
  refused([&] { return absd(f < 1, f < 2); }, "'absd' is not defined for the type bool", "numbers");
  refused([&] { return lerp(s, s, s); }, "'lerp' is not defined for the type s32",
          "a weight that is a float");
  refused([&] { return lerp(w, w, 0.5f); }, "'lerp' is not defined for the type s64", "at most 32 bits");
  refused([&] { return mux(s, {}); }, "'mux' by 's' has no values", "one or more");
  refused([&] { return mux(f, {1, 2}); }, "'mux'", "integers");
  refused([&] { return reinterpret<std::int64_t>(f); }, "'f' of type f32 is reinterpreted as s64", "32 bits");
}

}  // namespace
}  // namespace calotype::ir
