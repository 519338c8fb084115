// `calotype explain`: the figures of a shipped schedule, and command lines that cannot be right.
#include <gtest/gtest.h>

#include "program.h"

namespace calotype::test {
namespace {

// x, up and out have 8 x 4096 elements of 4 bytes, w a row of them, the means a column.
TEST(Explain, NormalisedRowsUnderTheShippedSchedule) {
  const Ran ran = run_program(
      "explain rmsnorm_silu_mul --size N=4096,R=8 --target cuda-sm_90a --schedule best --device h200 --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const nlohmann::json json = ran.json();
  const std::int64_t full = 8 * 4096 * 4, row = 4096 * 4, column = 8 * 4;
  EXPECT_EQ(json["operators"].size(), 8u);
  EXPECT_EQ(json["operators_bytes"], 12 * full + row + 6 * column);
  ASSERT_EQ(json["kernels"].size(), 1u);
  EXPECT_EQ(json["kernels_bytes"], 3 * full + row);
  EXPECT_NEAR(json["share"].get<double>(), 0.258, 0.0005);
  EXPECT_EQ(json["kernels"][0]["bound_by"], "memory");
  EXPECT_NEAR(json["kernels"][0]["bound_us"].get<double>(), (3 * full + row) / 4.8e12 * 1e6, 1e-9);
}

TEST(Explain, FiguresOfTheUsersOwnMachine) {
  const Ran ran = run_program("explain matmul --size M=64,N=32,K=16 --bandwidth 10 --rate 1 --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const nlohmann::json json = ran.json();
  const nlohmann::json product = json["operators"][0];
  EXPECT_EQ(product["name"], "acc");
  EXPECT_EQ(product["operations"], 2 * 64 * 32 * 16);
  EXPECT_EQ(product["bound_by"], "arithmetic");
  EXPECT_NEAR(product["bound_us"].get<double>(), 2 * 64 * 32 * 16 / 1e9 * 1e6, 1e-9);
}

TEST(Explain, TextNamesWhatEachOperatorComputes) {
  const Ran ran = run_program("explain softmax --size N=16,D1=2,D2=1,D3=1");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find("value(n, i, j, l) - peak(i, j, l)"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("bound"), std::string::npos) << ran.out;
}

TEST(Explain, RunsToTellTheShareOfTheBound) {
#ifndef CALOTYPE_HAS_LLVM
  GTEST_SKIP() << "this build has no CPU backend";
#endif
  const Ran ran = run_program("explain matmul --size M=64,N=32,K=16 --bandwidth 10 --rate 1 --run --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const nlohmann::json json = ran.json();
  const double us = json["measured_us"];
  double bound = 0;
  for (const nlohmann::json& kernel : json["kernels"]) bound += kernel["bound_us"].get<double>();
  EXPECT_GT(us, 0);
  EXPECT_NEAR(json["share_of_bound"].get<double>(), bound / us, 1e-6 * bound / us);
  const Ran unbounded = run_program("explain matmul --size M=4,N=4,K=4 --run");
  EXPECT_NE(unbounded.out.find("\nMeasured: "), std::string::npos) << unbounded.out;
  EXPECT_EQ(unbounded.out.find("of which the bound"), std::string::npos) << unbounded.out;
}

TEST(Explain, RefusesWhatCannotBeRight) {
  const Ran simulated =
      run_program("explain matmul --size M=4,N=4,K=4 --run --target cuda-interpreter --schedule @gpu");
  EXPECT_EQ(simulated.code, 2);
  EXPECT_NE(simulated.err.find("--target host or cuda"), std::string::npos) << simulated.err;
  EXPECT_EQ(run_program("explain softmax").code, 2);
  const Ran device = run_program("explain matmul --size M=4,N=4,K=4 --device h20");
  EXPECT_EQ(device.code, 2);
  EXPECT_NE(device.err.find("h200"), std::string::npos) << device.err;
  EXPECT_EQ(run_program("explain matmul --size M=4,N=4,K=4 --bandwidth 10").code, 2);
}

}  // namespace
}  // namespace calotype::test
