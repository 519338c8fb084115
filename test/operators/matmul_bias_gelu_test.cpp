// matmul_bias_gelu and matmul_nt_bias_gelu against the formula in double arithmetic.
#include <cmath>
#include <numbers>

#include "operators/harness.h"

namespace calotype::test {
namespace {

double expected(const std::string& op, const cli::Call& call, const std::vector<std::int64_t>& at) {
  using At = std::vector<std::int64_t>;
  const bool b_transposed = op == "matmul_nt_bias_gelu";
  double z = call.inputs[2].value({at[0]});
  for (std::int64_t k = 0; k < call.sizes.at("K"); ++k)
    z += call.inputs[0].value({k, at[1]}) * call.inputs[1].value(b_transposed ? At{k, at[0]} : At{at[0], k});
  return z / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z)));
}

const std::vector<std::string>& forms() {
  static const std::vector<std::string> all = {"matmul_bias_gelu", "matmul_nt_bias_gelu"};
  return all;
}

TEST(MatmulBiasGelu, TheReferenceIsTheDefinition) {
  for (const std::string& op : forms()) {
    SCOPED_TRACE(op);
    const auto form = [&](const cli::Call& call, const std::vector<std::int64_t>& at) {
      return expected(op, call, at);
    };
    for (const OperatorTypes& types : find_operator(op).types) {
      check_reference(op, types.str(), {{"M", 5}, {"N", 7}, {"K", 11}}, {}, form, 2e-6);
      check_reference(op, types.str(), {{"M", 1}, {"N", 1}, {"K", 1}}, {}, form, 2e-6);
      check_reference(op, types.str(), {{"M", 2}, {"N", 3}, {"K", 0}}, {}, form, 2e-6);
    }
  }
}

/// Boxes are of tensors, whose rows are dense: `strided` are the cases without any.
std::vector<ScheduleCase> all_cases(bool strided = false) {
  std::vector<ScheduleCase> all;
  for (const std::string& op : forms())
    for (const ScheduleCase& c : schedule_cases(op))
      if (!strided || c.schedule.rfind("tensor", 0) != 0) all.push_back(c);
  return all;
}

class MatmulBiasGeluSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(MatmulBiasGeluSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"M", 31}, {"N", 37}, {"K", 29}});
  check_schedule(GetParam(), {{"M", 97}, {"N", 16}, {"K", 8}});
  check_schedule(GetParam(), {{"M", 136}, {"N", 272}, {"K", 80}});
  check_schedule(GetParam(), {{"M", 1}, {"N", 1}, {"K", 1}});
  check_schedule(GetParam(), {{"M", 8}, {"N", 16}, {"K", 0}});
}

class MatmulBiasGeluStrided : public testing::TestWithParam<ScheduleCase> {};

TEST_P(MatmulBiasGeluStrided, TakesInputs) {
  check_schedule_on_strided_inputs(GetParam(), {{"M", 19}, {"N", 37}, {"K", 29}});
}

std::string name_of(const testing::TestParamInfo<ScheduleCase>& info) {
  return info.param.op + "_" + case_name(info);
}
INSTANTIATE_TEST_SUITE_P(Operators, MatmulBiasGeluSchedules, testing::ValuesIn(all_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Operators, MatmulBiasGeluStrided, testing::ValuesIn(all_cases(true)), name_of);

}  // namespace
}  // namespace calotype::test
