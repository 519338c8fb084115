// cumulative_sum against a loop in double arithmetic.
#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  double sum = 0;
  for (std::int64_t n = 0; n <= at[0]; ++n) sum += call.inputs[0].value({n, at[1], at[2], at[3]});
  return sum;
}

TEST(CumulativeSum, TheReferenceIsTheDefinition) {
  for (const char* types : {"x=f32,out=f32", "x=bf16,out=bf16", "x=s32,out=s64", "x=u8,out=s64"}) {
    check_reference("cumulative_sum", types, {{"N", 33}, {"D1", 3}, {"D2", 2}, {"D3", 2}}, {}, expected,
                    1e-9);
    check_reference("cumulative_sum", types, {{"N", 1}}, {}, expected);
  }
}

class CumulativeSumSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(CumulativeSumSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"N", 133}, {"D1", 21}, {"D2", 2}, {"D3", 2}});
  check_schedule(GetParam(), {{"N", 128}, {"D1", 32}});
  check_schedule(GetParam(), {{"N", 1031}});
  check_schedule(GetParam(), {{"N", 3}, {"D1", 17}});
  check_schedule(GetParam(), {{"N", 1}, {"D1", 16}});
  check_schedule(GetParam(), {{"N", 1}});
  check_schedule(GetParam(), {{"N", 0}, {"D1", 3}});
}

TEST_P(CumulativeSumSchedules, TakeStridedInputs) {
  check_schedule_on_strided_inputs(GetParam(), {{"N", 133}, {"D1", 21}, {"D2", 2}});
}

INSTANTIATE_TEST_SUITE_P(Operators, CumulativeSumSchedules,
                         testing::ValuesIn(schedule_cases("cumulative_sum")), case_name);

}  // namespace
}  // namespace calotype::test
