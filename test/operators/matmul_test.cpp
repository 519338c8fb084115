// matmul and its transposed forms against the sum of products in double arithmetic.
#include "operators/harness.h"

namespace calotype::test {
namespace {

/// The form's last letters say which factor is given transposed.
double expected(const std::string& op, const cli::Call& call, const std::vector<std::int64_t>& at) {
  const bool a_transposed = op == "matmul_tn" || op == "matmul_tt",
             b_transposed = op == "matmul_nt" || op == "matmul_tt";
  using At = std::vector<std::int64_t>;
  double sum = 0;
  for (std::int64_t k = 0; k < call.sizes.at("K"); ++k)
    sum += call.inputs[0].value(a_transposed ? At{at[1], k} : At{k, at[1]}) *
           call.inputs[1].value(b_transposed ? At{k, at[0]} : At{at[0], k});
  return sum;
}

const std::vector<std::string>& forms() {
  static const std::vector<std::string> all = {"matmul", "matmul_nt", "matmul_tn", "matmul_tt"};
  return all;
}

TEST(Matmul, TheReferenceIsTheDefinition) {
  for (const std::string& op : forms()) {
    SCOPED_TRACE(op);
    const auto form = [&](const cli::Call& call, const std::vector<std::int64_t>& at) {
      return expected(op, call, at);
    };
    for (const OperatorTypes& types : find_operator(op).types) {
      check_reference(op, types.str(), {{"M", 5}, {"N", 7}, {"K", 11}}, {}, form, 1e-11);
      check_reference(op, types.str(), {{"M", 1}, {"N", 1}, {"K", 1}}, {}, form);
      check_reference(op, types.str(), {{"M", 2}, {"N", 3}, {"K", 0}}, {}, form);
    }
  }
}

std::vector<ScheduleCase> all_cases() {
  std::vector<ScheduleCase> all;
  for (const std::string& op : forms())
    for (const ScheduleCase& c : schedule_cases(op)) all.push_back(c);
  return all;
}

class MatmulSchedules : public testing::TestWithParam<ScheduleCase> {};

TEST_P(MatmulSchedules, EqualTheReference) {
  check_schedule(GetParam(), {{"M", 31}, {"N", 37}, {"K", 29}});
  check_schedule(GetParam(), {{"M", 64}, {"N", 64}, {"K", 32}});
  check_schedule(GetParam(), {{"M", 97}, {"N", 17}, {"K", 7}});
  check_schedule(GetParam(), {{"M", 136}, {"N", 272}, {"K", 80}});
  check_schedule(GetParam(), {{"M", 1}, {"N", 1}, {"K", 1}});
  check_schedule(GetParam(), {{"M", 8}, {"N", 16}, {"K", 0}});
}

INSTANTIATE_TEST_SUITE_P(Operators, MatmulSchedules, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.op + "_" + case_name(info); });

}  // namespace
}  // namespace calotype::test
