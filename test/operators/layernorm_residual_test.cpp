// layernorm_residual against the formula in double arithmetic.
#include <cmath>

#include "operators/harness.h"

namespace calotype::test {
namespace {

double h(const cli::Call& call, const std::vector<std::int64_t>& at) {
  return call.inputs[0].value(at) + call.inputs[1].value(at);
}

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  const auto n = static_cast<double>(call.sizes.at("N"));
  double mean = 0, variance = 0;
  for (std::int64_t k = 0; k < call.sizes.at("N"); ++k) mean += h(call, {k, at[1]}) / n;
  for (std::int64_t k = 0; k < call.sizes.at("N"); ++k)
    variance += std::pow(h(call, {k, at[1]}) - mean, 2) / n;
  // Params are f32.
  const double eps = static_cast<float>(call.params.at("eps"));
  return (h(call, at) - mean) / std::sqrt(variance + eps) * call.inputs[2].value({at[0]}) +
         call.inputs[3].value({at[0]});
}

TEST(LayernormResidual, TheReferenceIsTheDefinition) {
  for (const char* types : {"f32", "bf16"})
    for (const cli::Sizes& sizes : {cli::Sizes{{"N", 45}, {"R", 6}}, cli::Sizes{{"N", 1}, {"R", 1}}}) {
      check_reference("layernorm_residual", types, sizes, {}, h, 1e-9, 0);
      check_reference("layernorm_residual", types, sizes, {}, expected, 1e-9, 1);
      check_reference("layernorm_residual", types, sizes, {{"eps", 0.25}}, expected, 1e-9, 1);
    }
}

class LayernormResidualSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(LayernormResidualSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"N", 2051}, {"R", 3}});
  check_schedule(GetParam(), {{"N", 1024}, {"R", 4}}, {{"eps", 0.01}});
  check_schedule(GetParam(), {{"N", 37}, {"R", 9}});
  check_schedule(GetParam(), {{"N", 1}, {"R", 1}});
}

TEST_P(LayernormResidualSchedules, TakeStridedInputs) {
  check_schedule_on_strided_inputs(GetParam(), {{"N", 133}, {"R", 5}});
}

INSTANTIATE_TEST_SUITE_P(Operators, LayernormResidualSchedules,
                         testing::ValuesIn(schedule_cases("layernorm_residual")), case_name);

}  // namespace
}  // namespace calotype::test
