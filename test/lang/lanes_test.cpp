// The evaluator's batch arithmetic against ir::apply, which defines each operation.

#include "lang/lanes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "ir/value.h"

namespace calotype::lang {
namespace {

using ir::Op;

const std::vector<Type> kIntegers = {Bool(),  Int(8),   Int(16),  Int(32), Int(64),
                                     UInt(8), UInt(16), UInt(32), UInt(64)};
const std::vector<Type> kFloats = {Float(16), BFloat(16), Float(32), Float(64)};

/// Random values of a type with the special ones among them.
class Random {
 public:
  ir::Value operator()(Type type) {
    if (!type.is_float()) return ir::Value::of_int(type, integer());
    const double special[] = {0.0,     -0.0,  1,       -1,   INFINITY, -INFINITY,  std::nan(""), 65504,
                              65519.9, 65520, 0x1p-24, 3e-8, 1e-40,    0x1.fep127, 0.5,          2.5};
    if (engine_() % 4 == 0) return ir::Value::of_float(type, special[engine_() % std::size(special)]);
    const double scale = std::ldexp(1.0, static_cast<int>(engine_() % 24) - 12);
    return ir::Value::of_float(type, std::normal_distribution<double>()(engine_) * scale);
  }

 private:
  std::int64_t integer() {
    const std::int64_t special[] = {0,    1,     -1,        2,         127,       128,      255,
                                    -128, 32767, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    switch (engine_() % 3) {
      case 0:
        return special[engine_() % std::size(special)];
      case 1:
        return static_cast<std::int64_t>(engine_() % 200) - 100;
      default:
        return static_cast<std::int64_t>(engine_());
    }
  }
  std::mt19937_64 engine_{11};
};

void put(Lanes& lanes, int l, const ir::Value& v) {
  if (v.type.is_float()) {
    lanes.f[l] = lanes.exact[l] = v.f;
    lanes.bound[l] = 0;
  } else {
    lanes.i[l] = v.i;
  }
}

void expect_as_apply(Op op, Type type, const std::vector<Type>& operands) {
  static Random random;
  auto lanes = std::make_unique<Lanes[]>(4);
  std::vector<std::vector<ir::Value>> values(kLanes);
  for (int l = 0; l < kLanes; ++l) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      values[l].push_back(random(operands[i]));
      put(lanes[i], l, values[l].back());
    }
  }
  const auto operand = [&](std::size_t i) { return i < operands.size() ? &lanes[i] : nullptr; };
  apply_lanes(op, type, operands.back(), operand(0), operand(1), operand(2), lanes[3], kLanes, true);
  for (int l = 0; l < kLanes; ++l) {
    const ir::Value expected = ir::apply(op, type, values[l]).value();
    const std::string where = std::string(ir::info(op).name) + " " + operands[0].str() + " to " + type.str();
    if (!type.is_float()) {
      ASSERT_EQ(lanes[3].i[l], expected.i) << where;
    } else if (std::isnan(expected.f)) {
      ASSERT_TRUE(std::isnan(lanes[3].f[l])) << where;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(lanes[3].f[l]), std::bit_cast<std::uint64_t>(expected.f))
          << where << " " << values[l][0].f << ": " << lanes[3].f[l] << " " << expected.f;
    }
  }
}

TEST(Lanes, Integers) {
  for (const Type t : kIntegers) {
    for (const Op op : {Op::Eq, Op::Ne, Op::Lt, Op::Le}) expect_as_apply(op, Bool(), {t, t});
    for (const Op op : {Op::BitAnd, Op::BitOr, Op::BitXor}) expect_as_apply(op, t, {t, t});
    expect_as_apply(Op::Select, t, {Bool(), t, t});
    expect_as_apply(Op::BitNot, t, {t});
    if (t.is_bool()) continue;
    for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Min, Op::Max, Op::Shl, Op::Shr}) {
      expect_as_apply(op, t, {t, t});
    }
    for (const Op op : {Op::Neg, Op::Popcount, Op::CountLeadingZeros, Op::CountTrailingZeros})
      expect_as_apply(op, t, {t});
    expect_as_apply(Op::Fma, t, {t, t, t});
    if (t.is_int()) expect_as_apply(Op::Abs, UInt(t.bits), {t});
    // The amount of a shift may differ in sign.
    const Type other = t.is_int() ? UInt(t.bits) : Int(t.bits);
    expect_as_apply(Op::Shl, t, {t, other});
    expect_as_apply(Op::Shr, t, {t, other});
  }
  for (const Op op : {Op::And, Op::Or}) expect_as_apply(op, Bool(), {Bool(), Bool()});
  expect_as_apply(Op::Not, Bool(), {Bool()});
}

TEST(Lanes, Floats) {
  for (const Type t : kFloats) {
    for (const Op op : {Op::Eq, Op::Ne, Op::Lt, Op::Le}) expect_as_apply(op, Bool(), {t, t});
    for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Min, Op::Max, Op::Pow, Op::Atan2,
                        Op::Hypot, Op::FastDivide}) {
      expect_as_apply(op, t, {t, t});
    }
    for (const Op op :
         {Op::Neg,  Op::Abs,   Op::Exp,   Op::Log,   Op::Sqrt,    Op::Rsqrt,   Op::Tanh,    Op::Erf,
          Op::Sin,  Op::Cos,   Op::Floor, Op::Ceil,  Op::Trunc,   Op::Round,   Op::FastExp, Op::Tan,
          Op::Asin, Op::Acos,  Op::Atan,  Op::Sinh,  Op::Cosh,    Op::Asinh,   Op::Acosh,   Op::Atanh,
          Op::Exp2, Op::Expm1, Op::Log2,  Op::Log1p, Op::FastLog, Op::FastSin, Op::FastCos, Op::FastTanh}) {
      expect_as_apply(op, t, {t});
    }
    expect_as_apply(Op::Fma, t, {t, t, t});
    expect_as_apply(Op::Select, t, {Bool(), t, t});
  }
}

TEST(Lanes, Conversions) {
  std::vector<Type> all = kIntegers;
  all.insert(all.end(), kFloats.begin(), kFloats.end());
  for (const Type from : all) {
    for (const Type to : all) {
      expect_as_apply(Op::Cast, to, {from});
      if (from.bits == to.bits && !from.is_bool()) expect_as_apply(Op::Bitcast, to, {from});
    }
  }
}

/// Double arithmetic rounded to float must be float arithmetic; nothing is fused.
TEST(Lanes, FloatsAreComputedInTheirType) {
  std::mt19937 engine(5);
  std::normal_distribution<float> normal;
  auto lanes = std::make_unique<Lanes[]>(5);
  for (int l = 0; l < kLanes; ++l) {
    for (int i = 0; i < 3; ++i) lanes[i].f[l] = normal(engine);
  }
  apply_lanes(Op::Mul, Float(32), Float(32), &lanes[0], &lanes[1], nullptr, lanes[3], kLanes, false);
  apply_lanes(Op::Add, Float(32), Float(32), &lanes[3], &lanes[2], nullptr, lanes[4], kLanes, false);
  int differ_from_fused = 0;
  for (int l = 0; l < kLanes; ++l) {
    const auto a = static_cast<float>(lanes[0].f[l]), b = static_cast<float>(lanes[1].f[l]),
               c = static_cast<float>(lanes[2].f[l]);
    const volatile float product = a * b;
    const float sum = product + c;
    EXPECT_EQ(lanes[4].f[l], sum);
    differ_from_fused += sum != std::fma(a, b, c);
  }
  EXPECT_GT(differ_from_fused, 0);
}

}  // namespace
}  // namespace calotype::lang
