// softmax_columns against exponentials in double arithmetic.
#include <cmath>

#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  double total = 0;
  for (std::int64_t r = 0; r < call.sizes.at("R"); ++r) total += std::exp(call.inputs[0].value({at[0], r}));
  return std::exp(call.inputs[0].value(at)) / total;
}

TEST(SoftmaxColumns, TheReferenceIsTheDefinition) {
  for (const char* types : {"f32", "bf16"}) {
    check_reference("softmax_columns", types, {{"N", 9}, {"R", 33}}, {}, expected);
    check_reference("softmax_columns", types, {{"N", 1}, {"R", 1}}, {}, expected);
  }
}

class SoftmaxColumnsSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(SoftmaxColumnsSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"N", 133}, {"R", 37}});
  check_schedule(GetParam(), {{"N", 256}, {"R", 64}});
  check_schedule(GetParam(), {{"N", 3}, {"R", 1031}});
  check_schedule(GetParam(), {{"N", 70}, {"R", 1}});
  check_schedule(GetParam(), {{"N", 1}, {"R", 1}});
}

TEST_P(SoftmaxColumnsSchedules, TakeStridedInputs) {
  check_schedule_on_strided_inputs(GetParam(), {{"N", 133}, {"R", 37}});
}

INSTANTIATE_TEST_SUITE_P(Operators, SoftmaxColumnsSchedules,
                         testing::ValuesIn(schedule_cases("softmax_columns")), case_name);

}  // namespace
}  // namespace calotype::test
