// Random inputs: known answers of the generator, and the distribution of what is made from it.
#include "cli/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace calotype::cli {
namespace {

// First two words of Philox 4x32-10 for counter and key 0, from the published known answers.
TEST(Random, KnownAnswer) { EXPECT_EQ(random_bits(0, 0, 0), 0xe169c58d6627e8d5u); }

TEST(Random, SeedStreamAndIndexAllMatter) {
  const std::uint64_t base = random_bits(1, 2, 3);
  EXPECT_NE(base, random_bits(2, 2, 3));
  EXPECT_NE(base, random_bits(1, 3, 3));
  EXPECT_NE(base, random_bits(1, 2, 4));
  EXPECT_NE(random_bits(std::uint64_t{1} << 40, 0, 0), random_bits(0, 0, 0));
}

TEST(Random, NormalHasTheMomentsOfANormal) {
  const int n = 200000;
  double sum = 0, squares = 0, fourth = 0;
  int beyond_two = 0;
  for (int i = 0; i < n; ++i) {
    const double v = random_normal(7, 0, i);
    sum += v;
    squares += v * v;
    fourth += v * v * v * v;
    beyond_two += std::fabs(v) > 2;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
  EXPECT_NEAR(fourth / n, 3, 0.15);
  EXPECT_NEAR(beyond_two / double(n), 0.0455, 0.003);
}

// Quantiles worked out elsewhere, to the accuracy of the approximation; the last two lie in the tails.
TEST(Random, NormalInvertsTheDistribution) {
  EXPECT_NEAR(random_normal(0, 0, 0), 1.1775912390542727, 5e-9);
  EXPECT_NEAR(random_normal(0, 0, 1), -0.35287489660161836, 5e-9);
  EXPECT_NEAR(random_normal(7, 2, 12345), -0.58333846496382, 5e-9);
  EXPECT_NEAR(random_normal(std::uint64_t{1} << 40, 0, 3), -1.276899970706496, 5e-9);
  EXPECT_NEAR(random_normal(3, 0, 5415), -3.923243697108758, 5e-9);
  EXPECT_NEAR(random_normal(3, 0, 8566), 3.9514618790818337, 5e-9);
}

// The same bits on every platform and in every version: runs with one seed stay comparable.
TEST(Random, NormalIsReproducible) {
  EXPECT_EQ(random_normal(0, 0, 0), 1.1775912386854874);
  EXPECT_EQ(random_normal(7, 2, 12345), -0.58333846556091495);
}

TEST(Random, IntegersStayInTheirRange) {
  const Buffer bytes = random_buffer(UInt(8), {1000}, 1, 0), wide = random_buffer(Int(32), {1000}, 1, 0);
  double low = 255, high = 0;
  for (int i = 0; i < 1000; ++i) {
    low = std::min(low, bytes.value({i}));
    high = std::max(high, bytes.value({i}));
    EXPECT_LE(std::fabs(wide.value({i})), 100);
  }
  EXPECT_LT(low, 8);
  EXPECT_GT(high, 247);
  const Buffer signs = random_buffer(Int(8), {1000}, 1, 0);
  double least = 0;
  for (int i = 0; i < 1000; ++i) least = std::min(least, signs.value({i}));
  EXPECT_LT(least, -120);
}

}  // namespace
}  // namespace calotype::cli
