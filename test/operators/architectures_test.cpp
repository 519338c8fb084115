// Every shipped GPU schedule becomes machine code of every architecture that it is legal for: without spills
// or warnings, within the registers that let its blocks share a multiprocessor, and with 64-bit indices only
// where sizes ask for them.
#include <algorithm>
#include <iostream>
#include <regex>

#include "operators/harness.h"
#include "runtime/nvrtc.h"

namespace calotype::test {
namespace {

const std::vector<std::string> kArchs = {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"};

/// Most registers that a thread of the operator's kernels may take on any of them.
int register_limit(const std::string& op) {
  static const std::map<std::string, int> limits = {
      {"blur3x3", 128},  {"local_laplacian", 176}, {"softmax", 96}, {"sum", 72},
      {"sum_rows", 96}, {"transpose", 128},       {"unsharp", 96}};
  const auto at = limits.find(op);
  return at == limits.end() ? 64 : at->second;
}

std::vector<std::string> operators_for_gpus() {
  std::vector<std::string> names;
  for (const Operator* op : operators())
    if (std::any_of(op->schedules.begin(), op->schedules.end(),
                    [](const NamedSchedule& s) { return s.name == "gpu"; }))
      names.push_back(op->name);
  return names;
}

std::ptrdiff_t count(const std::string& text, const std::string& part) {
  std::ptrdiff_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++times;
  return times;
}

class Architectures : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  }
  const Operator& op() const { return find_operator(GetParam()); }

  void expect_good_code(const Kernel& kernel, const std::string& where) const {
    for (const std::string& warning : kernel.warnings()) ADD_FAILURE() << where << ": " << warning;
    const std::string text = kernel.show("ptxas");
    static const std::regex registers("registers a thread +([0-9]+)");
    int kernels = 0;
    for (std::sregex_iterator m(text.begin(), text.end(), registers), end; m != end; ++m, ++kernels)
      EXPECT_LE(std::stoi((*m)[1]), register_limit(op().name)) << where << "\n" << text;
    EXPECT_GE(kernels, 1) << where;
  }
};

TEST_P(Architectures, EveryOneCompiles) {
  for (const OperatorTypes& types : op().types) {
    const Pipeline pipeline = op().pipeline(types);
    const Schedule schedule = op().schedule("gpu").make(types);
    for (const std::string& arch : kArchs) {
      // The element types of an operator are all compiled for the architecture that the schedule was made
      // for.
      if (&types != &op().types.front() && arch != "sm_90a") continue;
      const std::string where = op().name + " (" + types.str() + ") for " + arch;
      const std::vector<Diagnostic> refusals = schedule.check(pipeline, Target::cuda(arch));
      if (!refusals.empty()) {
        EXPECT_NE(arch, "sm_90a") << refusals[0].str();
        std::cout << where << ": " << refusals[0].str() << "\n";
        continue;
      }
      expect_good_code(pipeline.compile(schedule, Target::cuda(arch)), where);
    }
  }
}

/// How the kernels of the schedule begin: what the compiler is told of them.
TEST_P(Architectures, HeadsSayWhatIsKnown) {
  const OperatorTypes& types = op().types.front();
  const Kernel kernel =
      op().pipeline(types).compile(op().schedule("gpu").make(types), Target::cuda("sm_90a"));
  const std::string source = kernel.show("cuda");
  static const std::regex heads("__global__ void([^{]*)\\{");
  for (std::sregex_iterator m(source.begin(), source.end(), heads), end; m != end; ++m) {
    const std::string head = (*m)[1];
    EXPECT_EQ(head.rfind(" __launch_bounds__(", 0), 0u) << head;
    // Arguments that span less than 1 GB are indexed in 32 bits, and none shares memory with another.
    EXPECT_EQ(head.find("long long"), std::string::npos) << head;
    EXPECT_EQ(std::count(head.begin(), head.end(), '*'), count(head, "* __restrict__ ")) << head;
  }
  // What no kernel writes is loaded by the way for that, or copied past the registers.
  const std::string ptx = kernel.show("ptx");
  EXPECT_TRUE(ptx.find("ld.global.nc.") != std::string::npos || ptx.find("cp.async.") != std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Operators, Architectures, testing::ValuesIn(operators_for_gpus()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace calotype::test
