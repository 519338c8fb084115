// Instructions of tiles as CUDA C: what is printed, and what the assembler says of every form.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "calotype/error.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "runtime/nvrtc.h"
#include "tiles.h"

namespace {

using namespace calotype_test;

class TileInstructions : public ::testing::Test {
 protected:
  void SetUp() override {
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  }
  /// The assembler has nothing to say of any kernel.
  static cuda::Compiled compiled(const std::vector<lower::Function>& kernels, const char* arch = "sm_90a") {
    const std::string source = cuda::print(kernels, {.aligned_arguments = true});
    cuda::Compiled c = cuda::compile(source, arch, {.cache = false});
    EXPECT_EQ(c.kernels.size(), kernels.size());
    for (const std::string& warning : c.warnings) ADD_FAILURE() << warning;
    for (const cuda::KernelFigures& k : c.kernels) EXPECT_EQ(k.spill_bytes + k.stack_bytes, 0) << k.name;
    return c;
  }
};

TEST_F(TileInstructions, Try) {
  const std::string source = cuda::print({product_of_roles()}, {.aligned_arguments = true});
  std::printf("%s\n", source.c_str());
  const cuda::Compiled c = compiled({product_of_roles()});
  std::printf("%s\n", c.log.c_str());
  FILE* f = fopen("/tmp/try/product.cubin", "wb");
  fwrite(c.cubin.data(), 1, c.cubin.size(), f);
  fclose(f);
}

}  // namespace
