// matmul against the sum of products in double arithmetic.
#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  double sum = 0;
  for (std::int64_t k = 0; k < call.sizes.at("K"); ++k)
    sum += call.inputs[0].value({k, at[1]}) * call.inputs[1].value({at[0], k});
  return sum;
}

TEST(Matmul, TheReferenceIsTheDefinition) {
  check_reference("matmul", "f32", {{"M", 5}, {"N", 7}, {"K", 11}}, {}, expected, 1e-11);
  check_reference("matmul", "f32", {{"M", 1}, {"N", 1}, {"K", 1}}, {}, expected);
  check_reference("matmul", "f32", {{"M", 2}, {"N", 3}, {"K", 0}}, {}, expected);
}

class MatmulSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(MatmulSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"M", 31}, {"N", 37}, {"K", 29}});
  check_schedule(GetParam(), {{"M", 64}, {"N", 64}, {"K", 32}});
  check_schedule(GetParam(), {{"M", 97}, {"N", 17}, {"K", 7}});
  check_schedule(GetParam(), {{"M", 1}, {"N", 1}, {"K", 1}});
  check_schedule(GetParam(), {{"M", 3}, {"N", 4}, {"K", 0}});
}

INSTANTIATE_TEST_SUITE_P(Operators, MatmulSchedules, testing::ValuesIn(schedule_cases("matmul")), case_name);

}  // namespace
}  // namespace calotype::test
