// unsharp against the convolution written out in double arithmetic.
#include <algorithm>
#include <cmath>

#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  const Buffer& image = call.inputs[0];
  const double weights[5] = {1, 4, 6, 4, 1};
  double gauss = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx)
      gauss += weights[dx + 2] * weights[dy + 2] / 256 *
               image.value({std::clamp<std::int64_t>(at[0] + dx, 0, image.extent(0) - 1),
                            std::clamp<std::int64_t>(at[1] + dy, 0, image.extent(1) - 1), at[2]});
  const double original = image.value(at), sharp = original + call.params.at("amount") * (original - gauss);
  // Rounding in the default mode is to nearest, halves to even.
  return image.type().is_float() ? std::clamp(sharp, 0.0, 1.0)
                                 : std::nearbyint(std::clamp(sharp, 0.0, 255.0));
}

TEST(Unsharp, TheReferenceIsTheDefinition) {
  // Bytes, sixteenths and these amounts are exact in f32, so u8 results are the same to the last bit.
  for (const char* types : {"u8", "f32"})
    for (double amount : {1.5, 0.5}) {
      check_reference("unsharp", types, {{"W", 13}, {"H", 9}, {"C", 3}}, {{"amount", amount}}, expected);
      check_reference("unsharp", types, {{"W", 1}, {"H", 2}, {"C", 1}}, {{"amount", amount}}, expected);
    }
}

TEST(Unsharp, TheAmountIsOneAndAHalfIfNotGiven) {
  check_reference("unsharp", "u8", {{"W", 8}, {"H", 8}, {"C", 1}}, {},
                  [](const cli::Call& call, const std::vector<std::int64_t>& at) {
                    EXPECT_EQ(call.params.at("amount"), 1.5);
                    return expected(call, at);
                  });
}

class UnsharpSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(UnsharpSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"W", 67}, {"H", 71}, {"C", 3}});
  check_schedule(GetParam(), {{"W", 64}, {"H", 64}, {"C", 1}}, {{"amount", 0.7}});
  check_schedule(GetParam(), {{"W", 1}, {"H", 1}, {"C", 1}});
  check_schedule(GetParam(), {{"W", 1}, {"H", 9}, {"C", 2}});
  check_schedule(GetParam(), {{"W", 6}, {"H", 0}, {"C", 3}});
}

INSTANTIATE_TEST_SUITE_P(Operators, UnsharpSchedules, testing::ValuesIn(schedule_cases("unsharp")),
                         case_name);

}  // namespace
}  // namespace calotype::test
