// transpose against the element at the exchanged coordinates.
#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  return call.inputs[0].value({at[1], at[0], at[2]});
}

TEST(Transpose, TheReferenceIsTheDefinition) {
  for (const char* types : {"f32", "bf16", "u8"}) {
    check_reference("transpose", types, {{"N", 13}, {"M", 7}, {"B", 3}}, {}, expected);
    check_reference("transpose", types, {{"N", 1}, {"M", 1}, {"B", 1}}, {}, expected);
  }
}

class TransposeSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(TransposeSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"N", 67}, {"M", 131}, {"B", 2}});
  check_schedule(GetParam(), {{"N", 64}, {"M", 128}, {"B", 1}});
  check_schedule(GetParam(), {{"N", 1}, {"M", 37}, {"B", 1}});
  check_schedule(GetParam(), {{"N", 37}, {"M", 1}, {"B", 3}});
  check_schedule(GetParam(), {{"N", 1}, {"M", 1}, {"B", 1}});
  check_schedule(GetParam(), {{"N", 5}, {"M", 0}, {"B", 1}});
}

TEST_P(TransposeSchedules, TakeStridedInputs) {
  check_schedule_on_strided_inputs(GetParam(), {{"N", 67}, {"M", 70}, {"B", 2}});
}

INSTANTIATE_TEST_SUITE_P(Operators, TransposeSchedules, testing::ValuesIn(schedule_cases("transpose")),
                         case_name);

}  // namespace
}  // namespace calotype::test
