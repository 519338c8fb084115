// Everything that is printed compiles, for both architectures; what the machine code is made of; the cache.

#include "codegen/cuda/nvrtc_compile.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "calotype/error.h"
#include "runtime/nvrtc.h"
#include "samples.h"

namespace {

using namespace calotype_test;

class NvrtcCompile : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  }
};

INSTANTIATE_TEST_SUITE_P(Architectures, NvrtcCompile, ::testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(NvrtcCompile, Samples) {
  std::vector<lower::Function> kernels{blur_row(), normalise_rows(), reverse_in_shared()};
  for (const auto& f : vector_kernels()) kernels.push_back(f);
  ir::Facts facts;
  facts.symbols[kernels[1].scalars[1]].multiple = 8;
  const cuda::Compiled c = cuda::compile(cuda::print(kernels, {.aligned_arguments = true, .facts = facts}),
                                         GetParam(), {.cache = false});
  EXPECT_EQ(c.cubin.substr(1, 3), "ELF");
  ASSERT_EQ(c.kernels.size(), kernels.size());
  for (const cuda::KernelFigures& k : c.kernels) {
    EXPECT_GT(k.registers, 0) << k.name;
    EXPECT_EQ(k.spill_bytes + k.stack_bytes, 0) << k.name;
    EXPECT_EQ(k.shared_bytes, k.name == "normalise" ? 256 : 0) << k.name;
  }
  // eight bf16 are one access of 16 bytes each way
  const std::string normalise = c.ptx.substr(c.ptx.find(".entry normalise"),
                                             c.ptx.find(".entry reverse") - c.ptx.find(".entry normalise"));
  EXPECT_NE(normalise.find("ld.global.nc.v4."), std::string::npos);
  EXPECT_NE(normalise.find("st.global.v4."), std::string::npos);
}

TEST_P(NvrtcCompile, EveryOperationOnEveryType) {
  const std::vector<Operation> operations = all_operations();
  std::vector<lower::Function> kernels;
  for (const Type t : all_types()) kernels.push_back(operations_kernel(t, operations));
  EXPECT_EQ(cuda::compile(cuda::print(kernels), GetParam(), {.cache = false}).kernels.size(), kernels.size());
}

TEST_P(NvrtcCompile, AtomicUpdatesOfEveryType) {
  std::vector<lower::Function> kernels;
  for (const AtomicKernel& k : atomic_kernels()) kernels.push_back(k.function);
  const std::string source = cuda::print(kernels);
  const cuda::Compiled c = cuda::compile(source, GetParam(), {.cache = false});
  EXPECT_EQ(c.kernels.size(), kernels.size());
  // The machine's own where it has one, else an exchange of the word that holds the element.
  EXPECT_NE(source.find("atomicAdd(&out["), std::string::npos);
  EXPECT_NE(source.find("exchanged<bf16>(&out["), std::string::npos);
  EXPECT_NE(c.ptx.find(".cas.b32"), std::string::npos);
  EXPECT_NE(c.ptx.find(".cas.b64"), std::string::npos);
}

TEST_P(NvrtcCompile, ContractionIsAnOption) {
  const auto a = argument("a", Float(32), 0, true), out = argument("out", Float(32), 1, false);
  Elementwise k("fused", {a, out});
  const Expr x = load(a, k.i), value = add(mul(x, x), x);
  const std::string plain = cuda::print({k.with(ir::store(out, value, {k.i}))});
  const std::string strict =
      cuda::print({k.with(ir::store(out, node(Op::Strict, Float(32), {value}), {k.i}))});
  const auto has_fma = [&](const std::string& source, bool contract) {
    return cuda::compile(source, GetParam(), {.contract = contract, .cache = false}).ptx.find("fma.rn.f32") !=
           std::string::npos;
  };
  EXPECT_TRUE(has_fma(plain, true));
  EXPECT_FALSE(has_fma(plain, false));
  EXPECT_FALSE(has_fma(strict, true));
}

TEST_P(NvrtcCompile, FailuresShowTheNumberedSource) {
  try {
    cuda::compile("int good;\nint bad = nothing;\n", GetParam(), {.cache = false});
    FAIL() << "compiled";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Internal);
    EXPECT_NE(std::string(e.what()).find("   2 int bad = nothing;"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("undefined"), std::string::npos) << e.what();
  }
}

TEST_P(NvrtcCompile, CacheReturnsTheSame) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("calotype_nvrtc_test." + std::to_string(getpid()));
  setenv("CALOTYPE_CACHE", folder.c_str(), 1);
  const std::string source = cuda::print({blur_row()});
  const cuda::Compiled fresh = cuda::compile(source, GetParam()), kept = cuda::compile(source, GetParam());
  const cuda::Compiled other = cuda::compile(source, GetParam(), {.contract = false});
  unsetenv("CALOTYPE_CACHE");
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(fresh.from_cache);
  EXPECT_TRUE(kept.from_cache);
  EXPECT_FALSE(other.from_cache);
  EXPECT_EQ(fresh.cubin, kept.cubin);
  EXPECT_EQ(fresh.ptx, kept.ptx);
  ASSERT_EQ(kept.kernels.size(), 1u);
  EXPECT_EQ(kept.kernels[0].registers, fresh.kernels[0].registers);
}

TEST_P(NvrtcCompile, KernelsAloneMayTakeAllRegisters) {
  const std::vector<lower::Function> kernels{blur_row(), normalise_rows()};
  const std::string shared = cuda::print(kernels), alone = cuda::print(kernels, {.alone = {"normalise"}});
  EXPECT_NE(shared.find("__launch_bounds__(64) normalise("), std::string::npos) << shared;
  EXPECT_NE(alone.find("__launch_bounds__(64, 1) normalise("), std::string::npos) << alone;
  EXPECT_NE(alone.find("__launch_bounds__(64) blur_row("), std::string::npos) << alone;
  EXPECT_EQ(cuda::compile(alone, GetParam(), {.cache = false}).kernels.size(), 2u);
}

/// A cache of the test's own.
class NvrtcCache : public ::testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("calotype_nvrtc_cache." + std::to_string(getpid()));
  void SetUp() override {
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
    setenv("CALOTYPE_CACHE", folder.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("CALOTYPE_CACHE");
    std::filesystem::remove_all(folder);
  }
  std::vector<std::filesystem::path> entries() const {
    std::vector<std::filesystem::path> all;
    for (const auto& e : std::filesystem::directory_iterator(folder)) all.push_back(e.path());
    return all;
  }
};

TEST_F(NvrtcCache, AlteredEntriesAreCompiledAgain) {
  const std::string source = cuda::print({blur_row()});
  const cuda::Compiled fresh = cuda::compile(source, "sm_90a");
  ASSERT_EQ(entries().size(), 1u);
  const std::filesystem::path entry = entries()[0];
  std::ifstream in(entry, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  std::vector<std::string> altered{"", whole.substr(0, 40), whole.substr(0, whole.size() / 2), whole + "x"};
  for (const std::size_t at :
       {std::size_t{3}, std::size_t{20}, std::size_t{50}, whole.size() / 2, whole.size() - 1}) {
    altered.push_back(whole);
    altered.back()[at] ^= 1;
  }
  for (const std::string& bytes : altered) {
    std::ofstream(entry, std::ios::binary) << bytes;
    const cuda::Compiled again = cuda::compile(source, "sm_90a");
    EXPECT_FALSE(again.from_cache);
    EXPECT_EQ(again.cubin, fresh.cubin);
    const cuda::Compiled kept = cuda::compile(source, "sm_90a");
    EXPECT_TRUE(kept.from_cache);
    EXPECT_EQ(kept.cubin, fresh.cubin);
    EXPECT_EQ(kept.kernels.at(0).registers, fresh.kernels.at(0).registers);
    EXPECT_EQ(kept.nvrtc, fresh.nvrtc);
  }
}

TEST_F(NvrtcCache, KeysAreSourceArchitectureAndOptions) {
  const std::string source = cuda::print({blur_row()});
  EXPECT_FALSE(cuda::compile(source, "sm_90a").from_cache);
  EXPECT_FALSE(cuda::compile(source, "sm_80").from_cache);
  EXPECT_FALSE(cuda::compile(source + "\n", "sm_90a").from_cache);
  EXPECT_FALSE(cuda::compile(source, "sm_90a", {.contract = false}).from_cache);
  EXPECT_EQ(entries().size(), 4u);
  EXPECT_TRUE(cuda::compile(source, "sm_80").from_cache);
}

TEST_F(NvrtcCache, SeveralProcessesAtOnce) {
  const std::string source = cuda::print({blur_row(), normalise_rows()});
  const cuda::Compiled fresh = cuda::compile(source, "sm_90a", {.cache = false});
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      bool same = true;
      for (int i = 0; i < 3; ++i) same &= cuda::compile(source, "sm_90a").cubin == fresh.cubin;
      _exit(same ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(entries().size(), 1u);
  EXPECT_TRUE(cuda::compile(source, "sm_90a").from_cache);
}

TEST(NvrtcFigures, ReadFromTheLog) {
  const auto kernels = cuda::read_figures(
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas         .     16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem\n");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "k");
  EXPECT_EQ(kernels[0].registers, 255);
  EXPECT_EQ(kernels[0].spill_bytes, 56);
  EXPECT_EQ(kernels[0].stack_bytes, 16);
  EXPECT_EQ(kernels[0].shared_bytes, 1024);
}

}  // namespace
