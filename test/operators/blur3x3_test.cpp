// blur3x3 against nine additions written out.
#include <algorithm>
#include <cmath>

#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  const Buffer& image = call.inputs[0];
  double sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      sum += image.value({std::clamp<std::int64_t>(at[0] + dx, 0, image.extent(0) - 1),
                          std::clamp<std::int64_t>(at[1] + dy, 0, image.extent(1) - 1), at[2]});
  return image.type().is_float() ? sum / 9 : std::floor((sum + 4) / 9);
}

TEST(Blur3x3, TheReferenceIsTheDefinition) {
  for (const char* types : {"u8", "f32"}) {
    check_reference("blur3x3", types, {{"W", 13}, {"H", 7}, {"C", 3}}, {}, expected);
    check_reference("blur3x3", types, {{"W", 1}, {"H", 1}, {"C", 1}}, {}, expected);
  }
}

class Blur3x3Schedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(Blur3x3Schedules, EqualTheReference) {
  check_schedule(GetParam(), {{"W", 67}, {"H", 37}, {"C", 3}});
  check_schedule(GetParam(), {{"W", 64}, {"H", 32}, {"C", 1}});
  check_schedule(GetParam(), {{"W", 1}, {"H", 1}, {"C", 1}});
  check_schedule(GetParam(), {{"W", 5}, {"H", 1}, {"C", 2}});
  check_schedule(GetParam(), {{"W", 0}, {"H", 4}, {"C", 3}});
}

INSTANTIATE_TEST_SUITE_P(Operators, Blur3x3Schedules, testing::ValuesIn(schedule_cases("blur3x3")),
                         case_name);

}  // namespace
}  // namespace calotype::test
