// conv2d_nhwc_relu against the sum of products in double arithmetic.
#include <algorithm>

#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const cli::Call& call, const std::vector<std::int64_t>& at) {
  const Buffer &x = call.inputs[0], &weights = call.inputs[1];
  double sum = call.inputs[2].value({at[0]});
  for (std::int64_t kj = 0; kj < call.sizes.at("KH"); ++kj)
    for (std::int64_t ki = 0; ki < call.sizes.at("KW"); ++ki)
      for (std::int64_t ci = 0; ci < call.sizes.at("CI"); ++ci)
        sum += x.value({ci, at[1] + ki, at[2] + kj, at[3]}) * weights.value({at[0], ci, ki, kj});
  return std::max(sum, 0.0);
}

cli::Sizes sizes(std::int64_t ci, std::int64_t co, std::int64_t w, std::int64_t h, std::int64_t n,
                 std::int64_t kw, std::int64_t kh) {
  return {{"CI", ci}, {"CO", co}, {"W", w}, {"H", h}, {"N", n}, {"KW", kw}, {"KH", kh}};
}

TEST(Conv2dNhwcRelu, TheReferenceIsTheDefinition) {
  check_reference("conv2d_nhwc_relu", "f32", sizes(3, 5, 9, 7, 2, 3, 3), {}, expected, 1e-9);
  check_reference("conv2d_nhwc_relu", "f32", sizes(4, 3, 8, 6, 1, 5, 2), {}, expected, 1e-9);
  check_reference("conv2d_nhwc_relu", "f32", sizes(1, 1, 1, 1, 1, 1, 1), {}, expected);
}

class Conv2dNhwcReluSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(Conv2dNhwcReluSchedules, EqualTheReference) {
  check_schedule(GetParam(), sizes(5, 37, 25, 5, 2, 3, 3));
  check_schedule(GetParam(), sizes(8, 32, 22, 4, 1, 3, 3));
  check_schedule(GetParam(), sizes(3, 133, 14, 3, 1, 3, 2));
  check_schedule(GetParam(), sizes(3, 7, 6, 9, 1, 2, 5));
  check_schedule(GetParam(), sizes(17, 20, 11, 2, 1, 1, 1));
  check_schedule(GetParam(), sizes(1, 1, 1, 1, 1, 1, 1));
}

TEST_P(Conv2dNhwcReluSchedules, TakeStridedInputs) {
  check_schedule_on_strided_inputs(GetParam(), sizes(3, 33, 13, 4, 2, 3, 3));
}

INSTANTIATE_TEST_SUITE_P(Operators, Conv2dNhwcReluSchedules,
                         testing::ValuesIn(schedule_cases("conv2d_nhwc_relu")), case_name);

}  // namespace
}  // namespace calotype::test
