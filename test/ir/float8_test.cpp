// Conversions to and from the 8-bit floats against their closed form.

#include "calotype/float8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "calotype/expr.h"
#include "calotype/integer.h"
#include "calotype/math.h"
#include "ir/value.h"
#include "refused.h"
#include "support/float8.h"

namespace calotype {
namespace {

using testing::float8_nearest;
using testing::float8_number;
using testing::float8_probes;

const Type kTypes[] = {E4M3(), E5M2()};

Expr coordinate(const std::string& name) { return ir::make_var(ir::var_symbol(name)); }

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(Float8, EveryPatternStandsForItsNumber) {
  for (int bits = 0; bits < 256; ++bits) {
    const auto b = static_cast<std::uint8_t>(bits);
    EXPECT_TRUE(same(e4m3_bits_to_float(b), float8_number(E4M3(), bits))) << bits;
    EXPECT_TRUE(same(e5m2_bits_to_float(b), float8_number(E5M2(), bits))) << bits;
    for (const Type t : kTypes) {
      const double value = ir::float8_value(t, b);
      EXPECT_TRUE(same(value, float8_number(t, bits))) << t.str() << bits;
      EXPECT_EQ(std::isnan(value) || ir::float8_bits(t, value) == b, true) << t.str() << bits;
    }
  }
  EXPECT_EQ(float8_number(E4M3(), 0x7e), 448);
  EXPECT_EQ(float8_number(E5M2(), 0x7b), 57344);
}

TEST(Float8, ConversionsRoundToNearestEvenAndSaturate) {
  for (const float x : float8_probes<float>(E4M3()))
    EXPECT_EQ(float_to_e4m3_bits(x), float8_nearest(E4M3(), x)) << x;
  for (const float x : float8_probes<float>(E5M2()))
    EXPECT_EQ(float_to_e5m2_bits(x), float8_nearest(E5M2(), x)) << x;
  EXPECT_EQ(float_to_e4m3_bits(464), 0x7e);  // half way to what would be the next
  EXPECT_EQ(float_to_e4m3_bits(-1e30f), 0xfe);
  EXPECT_EQ(float_to_e5m2_bits(-INFINITY), 0xfb);
}

TEST(Float8, DoublesRoundOnce) {
  for (const Type t : kTypes)
    for (const double x : float8_probes<double>(t)) {
      const ir::Value v = ir::convert(t, ir::Value::of_float(Float(64), x));
      EXPECT_EQ(ir::float8_bits(t, v.f), float8_nearest(t, x)) << t.str() << " of " << x;
    }
}

TEST(Float8, IntegersConvertAsTheNumbersTheyAre) {
  for (const Type t : kTypes)
    for (const Type from : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64), UInt(64), Bool()})
      for (std::int64_t i :
           {0, 1, -1, 7, 17, 18, 19, 25, 27, 104, 127, 200, 255, 447, 449, 5000, 57345, 70000}) {
        const ir::Value v = ir::Value::of_int(from, i);
        const double number = from == UInt(64) ? static_cast<double>(static_cast<std::uint64_t>(v.i))
                                               : static_cast<double>(v.i);
        EXPECT_EQ(ir::float8_bits(t, ir::convert(t, v).f), float8_nearest(t, number)) << from.str() << number;
      }
}

TEST(Float8, NumbersConvertToEveryType) {
  for (const Type t : kTypes)
    for (int bits = 0; bits < 256; ++bits) {
      const double number = float8_number(t, bits);
      const ir::Value v = ir::Value::of_float(t, ir::float8_value(t, static_cast<std::uint8_t>(bits)));
      for (const Type to : {Float(16), BFloat(16), Float(32), Float(64)})
        EXPECT_TRUE(same(ir::convert(to, v).f, number)) << t.str() << bits << to.str();
      const double whole = std::isnan(number) ? 0 : std::trunc(number);
      EXPECT_EQ(ir::convert(Int(8), v).i, std::clamp(whole, -128.0, 127.0));
      EXPECT_EQ(ir::convert(UInt(16), v).i, std::clamp(whole, 0.0, 65535.0));
      EXPECT_EQ(ir::convert(Int(32), v).i, std::clamp(whole, -2147483648.0, 2147483647.0));
      EXPECT_EQ(ir::convert(Bool(), v).i, number != 0);
    }
}

TEST(Float8, NamesAreReadAndWritten) {
  EXPECT_EQ(E4M3().str(), "e4m3");
  EXPECT_EQ(E5M2(4).str(), "e5m2x4");
  EXPECT_EQ(Type::parse("e5m2"), E5M2());
  EXPECT_EQ(Expr(float8_e4m3_t(1.5f)).type(), E4M3());
}

TEST(Float8, NothingIsComputedInIt) {
  const Expr a = cast(E4M3(), cast<float>(coordinate("x"))), b = cast(E5M2(), cast<float>(coordinate("x")));
  for (const auto& f : std::vector<std::function<Expr()>>{
           [&] { return a + a; }, [&] { return a * 2; }, [&] { return -a; }, [&] { return a < a; },
           [&] { return min(a, a); }, [&] { return abs(a); }, [&] { return sqrt(a); },
           [&] { return is_nan(a); }, [&] { return fma(a, a, a); }, [&] { return a + 1.0f; },
           [&] { return pow(a, a); }, [&] { return select(coordinate("y") < 3, a, b); },
           [&] { return select(coordinate("y") < 3, a, cast<float>(b)); }, [&] { return lerp(a, a, a); },
           [&] { return a == b; }})
    ir::refused(f, "is not defined for the type e", "cast<float>");
  ir::refused([&] { return a & a; }, "'&' is not defined for the type e4m3", "integers");
  EXPECT_EQ(select(coordinate("y") < 3, a, 1.5f).type(), E4M3());
  ir::refused([&] { return select(coordinate("y") < 3, a, 500); }, "the literal 500", "448");
}

}  // namespace
}  // namespace calotype
