#pragma once
// Kernels compiled by NVRTC and called on a driver without a GPU: what the driver is asked for, and what is
// said where it fails. Results are checked elsewhere.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "calotype/calotype.h"
#include "runtime/nvrtc.h"
#include "support/fake_cuda/fake_cuda.h"

namespace calotype::testing {

/// The library beside this program.
inline std::string fake_library() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename(CALOTYPE_FAKE_CUDA);
}

/// The driver's own questions, by name.
struct FakeCuda {
#define MEMBER(name, result, parameters) result(*name) parameters;
  FAKE_CUDA_FUNCTIONS(MEMBER)
#undef MEMBER
  FakeCuda() {
    setenv("CALOTYPE_LIBCUDA", fake_library().c_str(), 1);
    setenv("CALOTYPE_CACHE", "off", 1);
    void* library = dlopen(fake_library().c_str(), RTLD_NOW);
#define FIND(name, result, parameters) \
  name = library ? reinterpret_cast<result(*) parameters>(dlsym(library, #name)) : nullptr;
    FAKE_CUDA_FUNCTIONS(FIND)
#undef FIND
  }
};

inline FakeCuda& fake() {
  static FakeCuda one;
  return one;
}

class FakeGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(std::filesystem::exists(fake_library())) << "carry it along: " << fake_library();
    fake().fake_cuda_reset();
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  }

  /// out = 2 * in, 64 threads a block.
  static Pipeline doubled(Type type = Float(32)) {
    Dim n("n");
    ImageParam in(type, {n}, "in");
    Var x("x");
    Func out("out");
    out(x) = in(x)*cast(type, 2);
    return Pipeline("doubled", {in}, {Output(out, {n})});
  }
  static Schedule blocks(const std::string& stage = "out", int threads = 64) {
    Schedule s;
    s[stage].split("x", "xo", "xi", threads).gpu_blocks("xo").gpu_threads("xi");
    return s;
  }
  /// mid = in + 1 in global memory, then out = 2 * mid: two kernels and a workspace.
  static Pipeline through_memory() {
    Dim n("n");
    ImageParam in(Float(32), {n}, "in");
    Var x("x");
    Func mid("mid"), out("out");
    mid(x) = in(x) + 1.0f;
    out(x) = mid(x) * 2.0f;
    return Pipeline("through_memory", {in}, {Output(out, {n})});
  }
  static Schedule two_kernels() {
    Schedule s = blocks();
    s["mid"].compute_root().split("x", "xo", "xi", 64).gpu_blocks("xo").gpu_threads("xi");
    return s;
  }

  /// What a call throws; none: it succeeds.
  template <class F>
  static std::optional<Diagnostic> said(F&& call) {
    try {
      call();
      return std::nullopt;
    } catch (const Error& e) {
      return e.diagnostic();
    }
  }
};

}  // namespace calotype::testing
