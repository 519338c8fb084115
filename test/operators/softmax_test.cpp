// softmax against exponentials in double arithmetic.
#include <cmath>

#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  std::vector<std::int64_t> other = at;
  double total = 0;
  for (other[0] = 0; other[0] < call.sizes.at("N"); ++other[0])
    total += std::exp(call.inputs[0].value(other));
  return std::exp(call.inputs[0].value(at)) / total;
}

TEST(Softmax, TheReferenceIsTheDefinition) {
  for (const char* types : {"f32", "bf16"}) {
    check_reference("softmax", types, {{"N", 33}, {"D1", 3}, {"D2", 2}, {"D3", 2}}, {}, expected);
    check_reference("softmax", types, {{"N", 1}}, {}, expected);
  }
}

class SoftmaxSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(SoftmaxSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"N", 133}, {"D1", 3}, {"D2", 2}, {"D3", 2}});
  check_schedule(GetParam(), {{"N", 128}, {"D1", 4}});
  check_schedule(GetParam(), {{"N", 4096}, {"D1", 2}});
  check_schedule(GetParam(), {{"N", 6157}, {"D1", 2}});
  check_schedule(GetParam(), {{"N", 7}, {"D1", 5}});
  check_schedule(GetParam(), {{"N", 1}});
}

INSTANTIATE_TEST_SUITE_P(Operators, SoftmaxSchedules, testing::ValuesIn(schedule_cases("softmax")),
                         case_name);

}  // namespace
}  // namespace calotype::test
