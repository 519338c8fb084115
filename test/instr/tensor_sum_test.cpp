// The arithmetic of tensor cores: facts about the hardware, exact sums, and the results that an H200 gave.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "support/tensor_products.h"

namespace calotype::instr {
namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

std::uint32_t operand_of(Number n, float value) {
  const std::uint32_t bits = bits_of(value);
  if (n == Number::TF32) return bits;
  if (n == Number::BF16) return bits >> 16;
  const int mantissa = n == Number::F16 ? 10 : n == Number::E4M3 ? 3 : 2, bias = n == Number::E4M3 ? 7 : 15;
  if (value == 0) return 0;
  const std::uint32_t sign = bits >> 31,
                      exponent = (bits >> 23 & 0xff) - 127 + static_cast<std::uint32_t>(bias);
  return ((sign << (n == Number::E4M3 ? 4 : 5) | exponent) << mantissa) |
         (bits & 0x7fffff) >> (23 - mantissa);
}

/// c plus so many products value * 1.
float sum_of(const TensorRule& rule, float c, const std::vector<float>& products) {
  std::vector<std::uint32_t> a(static_cast<std::size_t>(rule.products), 0),
      b(a.size(), operand_of(rule.b, 1));
  for (std::size_t k = 0; k < products.size(); ++k) a[k] = operand_of(rule.a, products[k]);
  return std::bit_cast<float>(tensor_sum(rule, a, b, bits_of(c)));
}

const float kTwo24 = 16777216.0f;

TEST(TensorSum, CutsBelowTheLargestTerm) {
  for (const Number n : {Number::F16, Number::BF16, Number::TF32})
    for (const char* instruction : {"mma.sync", "wgmma"}) {
      const TensorRule& rule = *find_rule(instruction, n, n);
      EXPECT_EQ(sum_of(rule, kTwo24, {1}), kTwo24);
      EXPECT_EQ(sum_of(rule, kTwo24, {1, 1}), kTwo24 + 2);
      EXPECT_EQ(sum_of(rule, kTwo24, {1.5f}), kTwo24);
      EXPECT_EQ(sum_of(rule, kTwo24, {3}), kTwo24 + 2);
      EXPECT_EQ(sum_of(rule, -kTwo24, {-3}), -kTwo24 - 2);
      EXPECT_EQ(sum_of(rule, kTwo24, std::vector<float>(8, 1.0f)), kTwo24 + 8);
      EXPECT_EQ(sum_of(rule, std::ldexp(1.0f, 25), {1}) - std::ldexp(1.0f, 25), 0);
    }
  const TensorRule& narrow = *find_rule("wgmma", Number::E4M3, Number::E4M3);
  EXPECT_EQ(sum_of(narrow, kTwo24, std::vector<float>(32, 1.0f)), kTwo24);
  EXPECT_EQ(sum_of(narrow, 8192, {1}), 8193);
  EXPECT_EQ(sum_of(narrow, 16384, {1}), 16384);
  EXPECT_EQ(bits_of(sum_of(narrow, 1.0f / 3, {})) & 0x3ff, 0u);
}

TEST(TensorSum, SpecialNumbers) {
  const TensorRule& rule = *find_rule("wgmma", Number::BF16, Number::BF16);
  const float inf = INFINITY, most = 3.402823466e38f;
  EXPECT_EQ(sum_of(rule, inf, {1}), inf);
  EXPECT_EQ(bits_of(sum_of(rule, inf, {-inf})), 0x7fffffffu);
  EXPECT_EQ(bits_of(sum_of(rule, NAN, {1})), 0x7fffffffu);
  EXPECT_EQ(bits_of(sum_of(rule, -0.0f, {})), 0u);
  EXPECT_EQ(sum_of(rule, most, {std::ldexp(1.0f, 103)}), most);
  EXPECT_EQ(sum_of(rule, most, {std::ldexp(1.0f, 104)}), inf);
  EXPECT_EQ(bits_of(sum_of(rule, std::bit_cast<float>(1u), {})), 1u);
}

TEST(TensorSum, IntegersWrap) {
  const TensorRule& rule = *find_rule("wgmma", Number::S8, Number::S8);
  std::vector<std::uint32_t> a(32, 0), b(32, 1);
  a[3] = 1;
  EXPECT_EQ(tensor_sum(rule, a, b, 0x7fffffff), 0x80000000u);
  a[3] = 0x80;
  EXPECT_EQ(static_cast<std::int32_t>(tensor_sum(rule, a, b, 0)), -128);
}

/// What an H200 gave for these products, 10,240 an instruction and pair of types:
/// test/codegen/cuda/tensor_products_test prints the hashes there.
TEST(TensorSum, IsThatOfAnH200) {
  const std::map<std::string, std::uint64_t> given = {
      {"mma.sync f16 f16 f32", 0x2a53c109a159d2e6},   {"mma.sync bf16 bf16 f32", 0x721a4e781fbf1ba2},
      {"mma.sync tf32 tf32 f32", 0xd526e9e5635fc8b1}, {"mma.sync e4m3 e4m3 f32", 0xe8cfd45ec24be458},
      {"mma.sync e5m2 e5m2 f32", 0xdadcdfbc2e14fc80}, {"mma.sync e4m3 e5m2 f32", 0x569450cd20e78a43},
      {"mma.sync e5m2 e4m3 f32", 0x29def0e6a77a2505}, {"mma.sync s8 s8 s32", 0x4adbf16e65e01ed2},
      {"mma.sync u8 u8 s32", 0x9ee0c12339148e19},     {"mma.sync s8 u8 s32", 0xc4f1ed71d0eef62c},
      {"mma.sync u8 s8 s32", 0xedce88dbe570f7fe},     {"wgmma f16 f16 f32", 0x4e839e7bdbbfe195},
      {"wgmma bf16 bf16 f32", 0x74d2c5a4d8fee9a9},    {"wgmma tf32 tf32 f32", 0x145bc29571f7a638},
      {"wgmma e4m3 e4m3 f32", 0x2be27f9942805496},    {"wgmma e5m2 e5m2 f32", 0x27170b2b16937c4b},
      {"wgmma e4m3 e5m2 f32", 0x1fab0eeb87434353},    {"wgmma e5m2 e4m3 f32", 0xe177a69b2b267c7c},
      {"wgmma f16 f16 f16", 0xe97c7722d77c0b39},      {"wgmma e4m3 e4m3 f16", 0x38bc7dde5522ff26},
      {"wgmma e5m2 e5m2 f16", 0xa0787c1c8ff82797},    {"wgmma s8 s8 s32", 0xcc0313c613d9cf5b},
      {"wgmma u8 u8 s32", 0xf7ccdcdf50e524d3},        {"wgmma s8 u8 s32", 0xf32b6429cecaa28d},
      {"wgmma u8 s8 s32", 0x90781fa3d3558099},
  };
  ASSERT_EQ(given.size(), tensor_rules().size());
  for (const TensorRule& rule : tensor_rules()) {
    const testing::TensorProducts p = testing::random_products(rule);
    EXPECT_GE(p.results(), 10000);
    EXPECT_EQ(testing::hash_of(testing::sums(rule, p)), given.at(testing::name_of(rule)))
        << testing::name_of(rule);
  }
}

/// Small whole numbers are summed exactly, in any format that has them.
TEST(TensorSum, SmallNumbersAreExact) {
  for (const TensorRule& rule : tensor_rules()) {
    if (rule.integer() || rule.to_f16) continue;
    sim::Random random(7);
    for (int round = 0; round < 200; ++round) {
      std::vector<float> values;
      float expected = static_cast<float>(random.below(9)) - 4;
      const float c = expected;
      for (int k = 0; k < rule.products; ++k) {
        values.push_back(static_cast<float>(random.below(9)) - 4);
        expected += values.back();
      }
      EXPECT_EQ(sum_of(rule, c, values), expected) << testing::name_of(rule);
    }
  }
}

}  // namespace
}  // namespace calotype::instr
