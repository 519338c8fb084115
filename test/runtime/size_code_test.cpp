// Size expressions against plain C++ arithmetic of 128 bits.

#include "runtime/size_code.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

namespace {

using wide = __int128;

struct Code {
  std::vector<calotype_op> ops;
  Code& op(calotype_opcode opcode, std::int64_t value = 0) {
    ops.push_back({opcode, value});
    return *this;
  }
  Code& constant(std::int64_t value) { return op(CALOTYPE_OP_CONST, value); }
  /// nullopt: left 64 bits.
  std::optional<std::int64_t> run(const std::vector<std::int64_t>& slots = {}) const {
    std::vector<calotype_cell> stack(32), temps(8);
    std::int64_t result = 0;
    const calotype_code code{0, static_cast<std::uint32_t>(ops.size())};
    if (calotype_evaluate(ops.data(), code, slots.data(), stack.data(), temps.data(), &result))
      return std::nullopt;
    return result;
  }
};

std::optional<std::int64_t> binary(calotype_opcode opcode, std::int64_t a, std::int64_t b) {
  return Code().constant(a).constant(b).op(opcode).run();
}

std::optional<std::int64_t> fit(wide value) {
  if (value > INT64_MAX || value < INT64_MIN) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

wide floor_quotient(wide a, wide b) {
  wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

TEST(SizeCode, ArithmeticAgreesWithWideIntegers) {
  std::mt19937_64 random(7);
  const std::vector<std::int64_t> ends{
      0, 1, -1, 2, -2, 7, -7, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1, 1ll << 32};
  for (int trial = 0; trial < 20000; ++trial) {
    const auto draw = [&] {
      if (random() % 2 == 0) return ends[random() % ends.size()];
      return static_cast<std::int64_t>(random()) >> (random() % 64);
    };
    const std::int64_t a = draw(), b = draw();
    EXPECT_EQ(binary(CALOTYPE_OP_ADD, a, b), fit(wide(a) + b)) << a << " " << b;
    EXPECT_EQ(binary(CALOTYPE_OP_SUB, a, b), fit(wide(a) - b)) << a << " " << b;
    EXPECT_EQ(binary(CALOTYPE_OP_MUL, a, b), fit(wide(a) * b)) << a << " " << b;
    EXPECT_EQ(binary(CALOTYPE_OP_DIV, a, b), b == 0 ? 0 : fit(floor_quotient(a, b))) << a << " " << b;
    const wide magnitude = b < 0 ? -wide(b) : wide(b);
    EXPECT_EQ(binary(CALOTYPE_OP_MOD, a, b), b == 0 ? 0 : fit(((a % magnitude) + magnitude) % magnitude))
        << a << " " << b;
    EXPECT_EQ(binary(CALOTYPE_OP_MIN, a, b), std::min(a, b));
    EXPECT_EQ(binary(CALOTYPE_OP_MAX, a, b), std::max(a, b));
    EXPECT_EQ(binary(CALOTYPE_OP_LT, a, b), a < b);
    EXPECT_EQ(binary(CALOTYPE_OP_LE, a, b), a <= b);
    EXPECT_EQ(binary(CALOTYPE_OP_EQ, a, b), a == b);
    EXPECT_EQ(binary(CALOTYPE_OP_NE, a, b), a != b);
  }
}

TEST(SizeCode, OverflowMattersOnlyWhereItReachesTheResult) {
  const auto huge = [](Code& c) -> Code& { return c.constant(INT64_MAX).constant(2).op(CALOTYPE_OP_MUL); };
  Code c1;
  huge(c1);
  EXPECT_EQ(c1.run(), std::nullopt);
  Code c2;  // 1 ? 5 : huge
  huge(c2.constant(1).constant(5)).op(CALOTYPE_OP_SELECT);
  EXPECT_EQ(c2.run(), 5);
  Code c3;  // 0 ? 5 : huge
  huge(c3.constant(0).constant(5)).op(CALOTYPE_OP_SELECT);
  EXPECT_EQ(c3.run(), std::nullopt);
  Code c4;  // huge < 3 && false
  huge(c4).constant(3).op(CALOTYPE_OP_LT).constant(0).op(CALOTYPE_OP_AND);
  EXPECT_EQ(c4.run(), 0);
  Code c5;  // true || huge < 3
  huge(c5.constant(1)).constant(3).op(CALOTYPE_OP_LT).op(CALOTYPE_OP_OR);
  EXPECT_EQ(c5.run(), 1);
  Code c6;  // true && huge < 3
  huge(c6.constant(1)).constant(3).op(CALOTYPE_OP_LT).op(CALOTYPE_OP_AND);
  EXPECT_EQ(c6.run(), std::nullopt);
}

TEST(SizeCode, SlotsTemporariesWrapsAndFloats) {
  EXPECT_EQ(Code()
                .op(CALOTYPE_OP_SLOT, 1)
                .op(CALOTYPE_OP_SET_TEMP, 3)
                .op(CALOTYPE_OP_TEMP, 3)
                .op(CALOTYPE_OP_TEMP, 3)
                .op(CALOTYPE_OP_MUL)
                .run({5, 9}),
            81);
  EXPECT_EQ(Code().constant(0x1ff).op(CALOTYPE_OP_WRAP, 8).run(), 0xff);
  EXPECT_EQ(Code().constant(0x1ff).op(CALOTYPE_OP_WRAP, -8).run(), -1);
  EXPECT_EQ(Code().constant(1ll << 31).op(CALOTYPE_OP_WRAP, -32).run(), INT32_MIN);
  EXPECT_EQ(Code().constant(2).op(CALOTYPE_OP_NOT).run(), 0);
  const auto bits = [](float f) {
    std::uint32_t u;
    memcpy(&u, &f, sizeof u);
    return static_cast<std::int64_t>(u);
  };
  EXPECT_EQ(Code().constant(bits(-3.9f)).op(CALOTYPE_OP_FROM_F32).run(), -3);
  EXPECT_EQ(Code().constant(bits(NAN)).op(CALOTYPE_OP_FROM_F32).run(), 0);
  EXPECT_EQ(Code().constant(bits(1e30f)).op(CALOTYPE_OP_FROM_F32).run(), INT64_MAX);
}

}  // namespace
