// bias_gelu_dropout against the formula in double arithmetic and a mask made by the same hash in C++.
#include <cmath>

#include "operators/harness.h"

namespace calotype::test {
namespace {

std::uint32_t mixed(std::uint32_t key, std::uint32_t counter) {
  std::uint32_t h = key ^ counter * 0x9e3779b1u;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

bool kept(const cli::Call& call, const std::vector<std::int64_t>& at) {
  const auto seed = static_cast<std::uint32_t>(call.params.at("seed"));
  const std::uint32_t key = mixed(mixed(seed, static_cast<std::uint32_t>(at[1])), 1);
  std::uint32_t word = mixed(key, static_cast<std::uint32_t>(at[0] / 4));
  if (at[0] % 4 >= 2) word = word * 0xcc9e2d51u ^ word * 0xcc9e2d51u >> 15;
  return (at[0] % 2 == 0 ? word & 0xffff : word >> 16) >= std::round(call.params.at("probability") * 65536);
}

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  if (!kept(call, at)) return 0;
  const double z = call.inputs[0].value(at) + call.inputs[1].value({at[0]});
  // The algorithm names the root of one half, and the probability, in f32.
  return z / 2 * (1 + std::erf(z * double{0.70710678f})) /
         (1 - double{static_cast<float>(call.params.at("probability"))});
}

TEST(BiasGeluDropout, TheReferenceIsTheDefinition) {
  for (const char* types : {"f32", "bf16"})
    for (double probability : {0.0, 0.1, 0.5}) {
      const std::map<std::string, double> params{{"probability", probability}, {"seed", 77}};
      // For bf16 erf is approximated, by far within what rounding to bf16 (2^-9) takes.
      const double relative = std::string(types) == "bf16" ? 1e-5 : 1e-7;
      check_reference("bias_gelu_dropout", types, {{"N", 45}, {"R", 6}}, params, expected, relative);
      check_reference("bias_gelu_dropout", types, {{"N", 1}, {"R", 1}}, params, expected, relative);
    }
}

TEST(BiasGeluDropout, AllAreDroppedAtProbability1) {
  check_reference("bias_gelu_dropout", "f32", {{"N", 45}, {"R", 6}}, {{"probability", 1}},
                  [](const auto&, const auto&) { return 0.0; });
}

// Shares of kept elements, of neighbours kept alike along both dimensions, and of elements that two seeds
// keep alike, within 5 standard deviations of independent draws.
TEST(BiasGeluDropout, TheMaskIsRandom) {
  const Pipeline pipeline = find_operator("bias_gelu_dropout").pipeline(OperatorTypes::parse("f32"));
  const std::int64_t size = 256;
  const double p = 0.3, n = size * size;
  std::vector<cli::Call> calls;
  for (double seed : {0.0, 1.0})
    calls.push_back(random_call("bias_gelu_dropout", pipeline, {{"N", size}, {"R", size}},
                                {{"probability", p}, {"seed", seed}}));
  double share = 0, along = 0, across = 0, seeds = 0;
  for (std::int64_t r = 0; r < size; ++r)
    for (std::int64_t c = 0; c < size; ++c) {
      const bool here = kept(calls[0], {c, r});
      share += here / n;
      along += (here == kept(calls[0], {c + 1, r})) / n;
      across += (here == kept(calls[0], {c, r + 1})) / n;
      seeds += (here == kept(calls[1], {c, r})) / n;
    }
  const double alike = p * p + (1 - p) * (1 - p);
  EXPECT_NEAR(share, 1 - p, 5 * std::sqrt(p * (1 - p) / n));
  for (double found : {along, across, seeds})
    EXPECT_NEAR(found, alike, 5 * std::sqrt(alike * (1 - alike) / n));
}

class BiasGeluDropoutSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(BiasGeluDropoutSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"N", 133}, {"R", 7}});
  check_schedule(GetParam(), {{"N", 256}, {"R", 4}}, {{"probability", 0.5}, {"seed", 12345}});
  check_schedule(GetParam(), {{"N", 37}, {"R", 3}}, {{"probability", 0}});
  check_schedule(GetParam(), {{"N", 1}, {"R", 1}});
  check_schedule(GetParam(), {{"N", 5}, {"R", 0}});
}

TEST_P(BiasGeluDropoutSchedules, TakeStridedInputs) {
  check_schedule_on_strided_inputs(GetParam(), {{"N", 133}, {"R", 5}});
}

INSTANTIATE_TEST_SUITE_P(Operators, BiasGeluDropoutSchedules,
                         testing::ValuesIn(schedule_cases("bias_gelu_dropout")), case_name);

}  // namespace
}  // namespace calotype::test
