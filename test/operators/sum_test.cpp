// sum and sum_rows against loops in double arithmetic.
#include "operators/harness.h"

namespace calotype::test {
namespace {

double row(const cli::Call& call, std::int64_t i, std::int64_t j, std::int64_t l) {
  double sum = 0;
  for (std::int64_t n = 0; n < call.sizes.at("N"); ++n) sum += call.inputs[0].value({n, i, j, l});
  return sum;
}

double expected_rows(const cli::Call& call, const std::vector<std::int64_t>& at) {
  return row(call, at[0], at[1], at[2]);
}

double expected_all(const cli::Call& call, const std::vector<std::int64_t>&) {
  double sum = 0;
  for (std::int64_t l = 0; l < call.inputs[0].extent(3); ++l)
    for (std::int64_t j = 0; j < call.inputs[0].extent(2); ++j)
      for (std::int64_t i = 0; i < call.inputs[0].extent(1); ++i) sum += row(call, i, j, l);
  return sum;
}

constexpr const char* kTypes[] = {"x=f32,out=f32", "x=bf16,out=f32", "x=u8,out=s64", "x=s32,out=s64"};

TEST(Sum, TheReferencesAreTheDefinitions) {
  const cli::Sizes boxes[] = {
      {{"N", 33}, {"D1", 3}, {"D2", 2}, {"D3", 2}}, {{"N", 1}}, {{"N", 57}, {"D1", 4}}};
  for (const char* types : kTypes)
    for (const cli::Sizes& sizes : boxes) {
      // Terms of both signs cancel, hence the room.
      check_reference("sum", types, sizes, {}, expected_all, 1e-9);
      check_reference("sum_rows", types, sizes, {}, expected_rows, 1e-9);
    }
}

class SumSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(SumSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"N", 133}, {"D1", 5}, {"D2", 2}, {"D3", 3}});
  check_schedule(GetParam(), {{"N", 128}, {"D1", 4}});
  check_schedule(GetParam(), {{"N", 9001}});
  check_schedule(GetParam(), {{"N", 4096}, {"D1", 3}});
  check_schedule(GetParam(), {{"N", 1}, {"D1", 9}});
  check_schedule(GetParam(), {{"N", 1}});
  check_schedule(GetParam(), {{"N", 0}, {"D1", 3}});
}

TEST_P(SumSchedules, TakeStridedInputs) {
  check_schedule_on_strided_inputs(GetParam(), {{"N", 133}, {"D1", 5}, {"D2", 2}});
}

INSTANTIATE_TEST_SUITE_P(Operators, SumSchedules, testing::ValuesIn(schedule_cases("sum")), case_name);
INSTANTIATE_TEST_SUITE_P(Rows, SumSchedules, testing::ValuesIn(schedule_cases("sum_rows")), case_name);

}  // namespace
}  // namespace calotype::test
