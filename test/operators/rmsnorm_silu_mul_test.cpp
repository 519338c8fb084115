// rmsnorm_silu_mul against the formula in double arithmetic.
#include <cmath>

#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  const Buffer &x = call.inputs[0], &w = call.inputs[1], &up = call.inputs[2];
  const std::int64_t n = call.sizes.at("N");
  double squares = 0;
  for (std::int64_t k = 0; k < n; ++k) squares += x.value({k, at[1]}) * x.value({k, at[1]});
  // The algorithm names 1e-6 in f32.
  const double z =
      x.value(at) / std::sqrt(squares / static_cast<double>(n) + double{1e-6f}) * w.value({at[0]});
  return z / (1 + std::exp(-z)) * up.value(at);
}

TEST(RmsnormSiluMul, TheReferenceIsTheDefinition) {
  for (const char* types : {"f32", "bf16"}) {
    check_reference("rmsnorm_silu_mul", types, {{"N", 45}, {"R", 6}}, {}, expected, 1e-11);
    check_reference("rmsnorm_silu_mul", types, {{"N", 1}, {"R", 1}}, {}, expected, 1e-11);
  }
}

class RmsnormSiluMulSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(RmsnormSiluMulSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"N", 2051}, {"R", 3}});
  check_schedule(GetParam(), {{"N", 4096}, {"R", 2}});
  check_schedule(GetParam(), {{"N", 6157}, {"R", 2}});
  check_schedule(GetParam(), {{"N", 256}, {"R", 4}});
  check_schedule(GetParam(), {{"N", 37}, {"R", 5}});
  check_schedule(GetParam(), {{"N", 1}, {"R", 1}});
}

INSTANTIATE_TEST_SUITE_P(Operators, RmsnormSiluMulSchedules,
                         testing::ValuesIn(schedule_cases("rmsnorm_silu_mul")), case_name);

}  // namespace
}  // namespace calotype::test
