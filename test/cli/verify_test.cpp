// `calotype verify`: exit codes, the JSON object, and command lines that cannot be right.
#include <gtest/gtest.h>

#include "program.h"

namespace calotype::test {
namespace {

TEST(VerifyCommand, FiguresOfAShippedSchedule) {
  const Ran ran = run_program("verify transpose --size N=64,M=96,B=1 --schedule @gpu_elements --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const nlohmann::json json = ran.json();
  EXPECT_EQ(json["clean"], true);
  EXPECT_EQ(json["target"], "cuda-sm_90a");
  EXPECT_TRUE(json["findings"].empty());
  ASSERT_EQ(json["kernels"].size(), 1u);
  std::int64_t bytes = 0;
  for (const nlohmann::json& stage : json["kernels"][0]["stages"]) {
    bytes += stage["global_stores"]["bytes"].get<std::int64_t>();
    EXPECT_EQ(stage["shared_loads"]["pieces"], stage["shared_loads"]["least_pieces"])
        << stage;  // no conflicts
  }
  EXPECT_EQ(bytes, 64 * 96 * 4);
}

TEST(VerifyCommand, WhatIsTooLargeSaysSoWithItsSizes) {
  const Ran ran = run_program("verify transpose --size N=640,M=960,B=1 --schedule best --max-steps 1000");
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.out.find("step limit"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("M=960"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("no findings"), std::string::npos) << ran.out;
}

TEST(VerifyCommand, RefusesWhatCannotBeRight) {
  const auto refused = [](const std::string& options, const std::string& why) {
    const Ran ran = run_program("verify transpose --size N=64,M=96,B=1 " + options);
    EXPECT_EQ(ran.code, 2) << options;
    EXPECT_NE(ran.err.find(why), std::string::npos) << ran.err;
  };
  refused("--target host", "programs for GPUs");
  refused("--max-steps 0", "--max-steps");
  refused("--seed minus", "--seed");
  refused("--schedule @nowhere", "nowhere");
}

}  // namespace
}  // namespace calotype::test
