// Every stage of every shipped operator under every schedule, on the host and on the interpreter, against the
// reference; and the values of a stage in a file.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/npy.h"
#include "operators/harness.h"

namespace calotype::test {
namespace {

const std::vector<cli::Sizes>& sizes_of(const std::string& op) {
  static const std::map<std::string, std::vector<cli::Sizes>> sizes = {
      {"blur3x3", {{{"W", 67}, {"H", 37}, {"C", 2}}, {{"W", 1}, {"H", 1}, {"C", 1}}}},
      {"unsharp", {{{"W", 67}, {"H", 67}, {"C", 2}}, {{"W", 1}, {"H", 1}, {"C", 1}}}},
      {"local_laplacian", {{{"W", 9}, {"H", 5}}}},
      {"bilateral_grid", {{{"W", 67}, {"H", 37}, {"C", 2}}, {{"W", 1}, {"H", 1}, {"C", 1}}}},
      {"bayer", {{{"W", 67}, {"H", 37}}, {{"W", 1}, {"H", 1}}}},
      {"camera_pipe", {{{"W", 67}, {"H", 37}}, {{"W", 2}, {"H", 2}}}},
      {"stencil_chain", {{{"W", 37}, {"H", 19}, {"C", 2}}}},
      {"harris", {{{"W", 67}, {"H", 37}}, {{"W", 1}, {"H", 1}}}},
      {"resize", {{{"W", 67}, {"H", 37}, {"C", 2}, {"OW", 41}, {"OH", 50}}}},
      {"gaussian_blur", {{{"W", 67}, {"H", 37}, {"C", 2}}, {{"W", 1}, {"H", 1}, {"C", 1}}}},
      {"histogram_equalize", {{{"W", 67}, {"H", 137}}, {{"W", 1}, {"H", 1}}}},
      {"matmul", {{{"M", 67}, {"N", 41}, {"K", 19}}, {{"M", 3}, {"N", 4}, {"K", 0}}}},
      {"matmul_nt", {{{"M", 67}, {"N", 48}, {"K", 32}}, {{"M", 3}, {"N", 4}, {"K", 0}}}},
      {"matmul_tn", {{{"M", 64}, {"N", 48}, {"K", 32}}, {{"M", 3}, {"N", 4}, {"K", 0}}}},
      {"matmul_tt", {{{"M", 64}, {"N", 48}, {"K", 32}}, {{"M", 3}, {"N", 4}, {"K", 0}}}},
      {"matmul_bias_gelu", {{{"M", 67}, {"N", 48}, {"K", 32}}, {{"M", 3}, {"N", 4}, {"K", 0}}}},
      {"matmul_nt_bias_gelu", {{{"M", 67}, {"N", 48}, {"K", 32}}, {{"M", 3}, {"N", 4}, {"K", 0}}}},
      {"softmax", {{{"N", 261}, {"D1", 3}}, {{"N", 1}}}},
      {"rmsnorm_silu_mul", {{{"N", 300}, {"R", 3}}, {{"N", 1}, {"R", 1}}}},
      {"transpose", {{{"N", 67}, {"M", 70}, {"B", 2}}, {{"N", 1}, {"M", 1}, {"B", 1}}}},
      {"sum", {{{"N", 261}, {"D1", 3}}, {{"N", 1}}}},
      {"sum_rows", {{{"N", 261}, {"D1", 7}}, {{"N", 1}}}},
      {"argmax", {{{"N", 261}, {"D1", 7}}, {{"N", 1}}}},
      {"cumulative_sum", {{{"N", 133}, {"D1", 19}}, {{"N", 1}}}},
      {"layernorm_residual", {{{"N", 300}, {"R", 3}}, {{"N", 1}, {"R", 1}}}},
      {"bias_gelu_dropout", {{{"N", 133}, {"R", 3}}, {{"N", 1}, {"R", 1}}}},
      {"softmax_columns", {{{"N", 133}, {"R", 19}}, {{"N", 128}, {"R", 37}}, {{"N", 1}, {"R", 1}}}},
      {"conv2d_nhwc_relu",
       {{{"CI", 5}, {"CO", 37}, {"W", 27}, {"H", 5}, {"N", 2}, {"KW", 3}, {"KH", 3}},
        {{"CI", 1}, {"CO", 1}, {"W", 1}, {"H", 1}, {"N", 1}, {"KW", 1}, {"KH", 1}}}},
      {"depthwise_separable_conv",
       {{{"CI", 5}, {"CO", 37}, {"W", 27}, {"H", 5}, {"N", 2}, {"KW", 3}, {"KH", 3}},
        {{"CI", 1}, {"CO", 1}, {"W", 1}, {"H", 1}, {"N", 1}, {"KW", 1}, {"KH", 1}}}},
      {"int8_matmul", {{{"M", 67}, {"N", 41}, {"K", 19}}, {{"M", 3}, {"N", 4}, {"K", 0}}}}};
  return sizes.at(op);
}

std::vector<ScheduleCase> all_cases() {
  std::vector<ScheduleCase> all;
  for (const Operator* op : operators()) {
    const std::vector<ScheduleCase> own = schedule_cases(op->name);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

std::string name_of(const testing::TestParamInfo<ScheduleCase>& info) {
  return info.param.op + "_" + case_name(info);
}

class Stages : public testing::TestWithParam<ScheduleCase> {};

TEST_P(Stages, EqualTheReference) {
  const ScheduleCase& c = GetParam();
#ifndef CALOTYPE_HAS_LLVM
  if (!c.gpu) GTEST_SKIP() << "this build has no CPU backend";
#endif
  const Pipeline pipeline = find_operator(c.op).pipeline(OperatorTypes::parse(c.types));
  std::vector<Target> targets{test_target(c)};
  if (c.gpu && std::getenv("CALOTYPE_TEST_GPU")) targets.push_back(Target::cuda());
  for (const cli::Sizes& sizes : sizes_of(c.op))
    for (const Target& target : targets) {
      if (!is_for(pipeline, make_schedule(c), target, sizes)) continue;
      const cli::Call call = random_call(c.op, pipeline, sizes);
      const cli::StageFindings found =
          cli::examine_stages(pipeline, make_schedule(c), target, call, true, {});
      EXPECT_EQ(found.compared.back().box, call.outputs.back().elements());
      for (const cli::StageFinding& f : found.compared)
        EXPECT_TRUE(f.passed()) << f.name << " on " << target.str() << " at " << cli::to_string(sizes) << ": "
                                << f.str() << ", box of " << f.box;
    }
}

INSTANTIATE_TEST_SUITE_P(Operators, Stages, testing::ValuesIn(all_cases()), name_of);

TEST(Dump, IsWhatTheEvaluatorComputes) {
  const Pipeline pipeline = find_operator("blur3x3").pipeline(OperatorTypes::parse("u8"));
  const cli::Call call = random_call("blur3x3", pipeline, {{"W", 19}, {"H", 11}, {"C", 2}});
  const std::string path =
      (std::filesystem::temp_directory_path() / ("calotype_dump_" + std::to_string(getpid()) + ".npy"))
          .string();
  const lang::FuncValues expected =
      lang::evaluate_funcs(pipeline.graph(), {pipeline.graph().find_func("blur_x")->id}, call.inputs,
                           call.params, call.sizes)[0][0];
  for (const ScheduleCase& c : schedule_cases("blur3x3")) {
    if (c.types != "u8" || (c.schedule != "gpu" && c.schedule != "strips")) continue;
#ifndef CALOTYPE_HAS_LLVM
    if (!c.gpu) continue;
#endif
    const cli::Pairs dumps{{"blur_x", path}};
    cli::write_dumps(dumps,
                     cli::examine_stages(pipeline, make_schedule(c), test_target(c), call, false, dumps));
    const Buffer read = cli::read_npy(path);
    std::filesystem::remove(path);
    EXPECT_TRUE(lang::compare(read, {expected.values, {}, {}, {}}, true).ok) << c.schedule;
  }
}

TEST(Dump, OfNoStage) {
  const Pipeline pipeline = find_operator("blur3x3").pipeline(OperatorTypes::parse("u8"));
  const cli::Call call = random_call("blur3x3", pipeline, {{"W", 5}, {"H", 4}, {"C", 1}});
  const ScheduleCase c{"blur3x3", "u8", "gpu_tiles", true};
  const auto refusal = [&](const cli::Pairs& dumps) {
    try {
      cli::examine_stages(pipeline, make_schedule(c), test_target(c), call, false, dumps);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Usage);
      return e.diagnostic();
    }
    ADD_FAILURE() << "not refused";
    return Diagnostic{};
  };
  EXPECT_EQ(refusal({{"blurx", "a.npy"}}).legal, "did you mean 'blur_x' or 'blur'?");
  const Diagnostic inlined = refusal({{"edged", "a.npy"}});
  EXPECT_NE(inlined.message.find("inline"), std::string::npos) << inlined.message;
  EXPECT_NE(inlined.legal.find("blur_x"), std::string::npos) << inlined.legal;
  EXPECT_EQ(refusal({{"blur_x", "a.png"}}).legal, ".npy");
}

}  // namespace
}  // namespace calotype::test
