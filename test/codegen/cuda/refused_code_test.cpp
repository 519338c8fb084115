// What a call says if the machine's GPU does not take the code, and that the process lives on: on the driver
// in test/support/fake_cuda, which has a device and is told to refuse every module.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "calotype/error.h"
#include "codegen/cuda/device_program.h"
#include "codegen/cuda/once.h"
#include "hand_plan.h"
#include "runtime/nvrtc.h"
#include "samples.h"
#include "support/fake_cuda/fake_cuda.h"

namespace {

using namespace calotype_test;

/// The driver is built beside this program.
std::string fake_cuda() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename(CALOTYPE_FAKE_CUDA);
}

/// Calls a kernel compiled for `arch` twice on the fake driver, which refuses modules with `result`, and
/// prints what is said.
[[noreturn]] void call_twice(const char* arch, int result = 209, int driver = 13000) {
  setenv("CALOTYPE_LIBCUDA", fake_cuda().c_str(), 1);
  void* library = dlopen(fake_cuda().c_str(), RTLD_NOW);
  reinterpret_cast<decltype(&fake_cuda_fail)>(dlsym(library, "fake_cuda_fail"))("cuModuleLoadData", 0, -1,
                                                                                result);
  reinterpret_cast<decltype(&fake_cuda_driver_version)>(dlsym(library, "fake_cuda_driver_version"))(driver);
  const lower::Function f = reverse_in_shared();
  lower::Program p;
  p.name = f.name;
  p.target = Target::cuda(arch);
  for (const auto& b : f.buffers) p.arguments.push_back({b->name, false, !b->read_only, b->type, 1});
  p.functions = {f};
  p.steps = {{0}};
  const cuda::DeviceProgram program(p);
  std::vector<float> memory(2 * 16384);
  const HandPlan plan(f, {}, 1, 256);
  const calotype_buffer a = dense(Float(32), memory.data(), 16384),
                        b = dense(Float(32), memory.data() + 16384, 16384);
  for (int call = 1; call <= 2; ++call) {
    calotype_context context{};
    try {
      program.run(plan.plan(), context, std::vector<calotype_argument>{{&a, 0}, {&b, 0}});
    } catch (const Error& e) {
      std::fprintf(stderr, "%d: %s [%s]\n", call, e.diagnostic().message.c_str(),
                   e.diagnostic().value.c_str());
    }
  }
  std::_Exit(0);
}

class RefusedCode : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process opens the driver once
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
    ASSERT_TRUE(std::filesystem::exists(fake_cuda())) << "carry it along with this program: " << fake_cuda();
  }
};

TEST_F(RefusedCode, OfAnotherArchitecture) {
  EXPECT_EXIT(call_twice("sm_100a"), ::testing::ExitedWithCode(0),
              "1: code for sm_100a does not run on No GPU \\(sm_90a\\) \\[sm_100a\\]\n"
              "2: code for sm_100a does not run on No GPU");
}

TEST_F(RefusedCode, ByTheDriver) {
  EXPECT_EXIT(call_twice("sm_90a"), ::testing::ExitedWithCode(0),
              "1: loading the kernels: no kernel image is available for execution on the device "
              "\\[CUDA_ERROR_NO_BINARY_FOR_GPU\\]\n"
              "2: loading the kernels: no kernel image");
}

TEST_F(RefusedCode, ByADriverOlderThanTheCompiler) {
  EXPECT_EXIT(
      call_twice("sm_90a", 222, 12040), ::testing::ExitedWithCode(0),
      "1: loading the kernels: the driver is of CUDA 12.4 and NVRTC of CUDA [0-9.]*, whose code it does "
      "not know \\[CUDA 12.4\\]\n"
      "2: loading the kernels: the driver is of CUDA 12.4");
}

TEST(Once, WhatThrowsIsTriedAgain) {
  cuda::Once once;
  int calls = 0;
  const auto fail = [&] {
    ++calls;
    throw std::runtime_error("no");
  };
  EXPECT_THROW(once(fail), std::runtime_error);
  EXPECT_THROW(once(fail), std::runtime_error);
  once([&] { ++calls; });
  once(fail);
  EXPECT_EQ(calls, 3);
}

}  // namespace
