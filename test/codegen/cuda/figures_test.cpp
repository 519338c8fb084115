// What is shown of machine code: figures, warnings, and the disassembler that is found or missed.

#include "codegen/cuda/figures.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "calotype/error.h"
#include "codegen/cuda/disassemble.h"
#include "codegen/cuda/printer.h"
#include "runtime/nvrtc.h"
#include "samples.h"

namespace {

using namespace calotype_test;
namespace fs = std::filesystem;

TEST(Figures, TextHasThemAll) {
  const std::vector<lower::Function> kernels{blur_row(), reverse_in_shared()};
  cuda::Compiled compiled{.arch = "sm_90a"};
  compiled.nvrtc = 13000;
  compiled.kernels = {{.name = "blur_row", .registers = 17}, {.name = "reverse", .registers = 255}};
  EXPECT_EQ(cuda::kernel_names(kernels)[1], "reverse");
  const std::string text = cuda::figures_text(kernels, compiled);
  EXPECT_NE(text.find("for sm_90a, by the compiler of CUDA 13.0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("kernel blur_row, a block of 64 threads\n  registers a thread      17\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  shared memory a block   65536 bytes, asked for by the launch\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("warning"), std::string::npos) << text;
}

TEST(Figures, SpillsAndFramesAreWarnings) {
  const std::vector<lower::Function> kernels{blur_row(), reverse_in_shared()};
  cuda::Compiled compiled{.arch = "sm_90a"};
  compiled.kernels = {{.name = "blur_row", .registers = 64, .spill_bytes = 48, .stack_bytes = 24},
                      {.name = "reverse", .registers = 32, .stack_bytes = 512}};
  compiled.warnings = {"ptxas info : (C7510) Potential Performance Loss"};
  const std::vector<std::string> warnings = cuda::warnings_of(kernels, compiled);
  ASSERT_EQ(warnings.size(), 3u);
  EXPECT_EQ(warnings[0], compiled.warnings[0]);
  EXPECT_NE(
      warnings[1].find("kernel 'blur_row' for sm_90a: 64 registers do not hold the values of a thread, and "
                       "48 bytes"),
      std::string::npos)
      << warnings[1];
  EXPECT_NE(warnings[2].find("kernel 'reverse' for sm_90a: 512 bytes a thread are in local memory"),
            std::string::npos)
      << warnings[2];
  EXPECT_NE(cuda::figures_text(kernels, compiled).find("warning: kernel 'reverse'"), std::string::npos);
}

TEST(Figures, WarningsOfALog) {
  const auto warnings = cuda::read_warnings(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain correctness\n"
      "ptxas warning : Local memory used for function 'k', size of stack frame: 16 bytes \n"
      "ptxas info    : Used 255 registers, used 1 barriers, 1024 bytes smem\n");
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("C7508"), std::string::npos);
  EXPECT_EQ(warnings[1], "ptxas warning : Local memory used for function 'k', size of stack frame: 16 bytes");
}

/// A kernel whose array is indexed by what is known only when it runs: it has to be in local memory.
TEST(Figures, LocalMemoryIsSeen) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  const cuda::Compiled compiled = cuda::compile(
      "extern \"C\" __global__ void k(float* x, int n) { float t[64]; for (int i = 0; i < 64; ++i) t[i] = "
      "x[i]; "
      "for (int i = 0; i < n; ++i) t[(i * 7) % 64] += t[(i * 5) % 64]; for (int i = 0; i < 64; ++i) x[i] = "
      "t[i]; }",
      "sm_90a", {.cache = false});
  ASSERT_EQ(compiled.kernels.size(), 1u);
  EXPECT_EQ(compiled.kernels[0].stack_bytes, 256);
}

class Disassemble : public ::testing::Test {
 protected:
  fs::path folder = fs::temp_directory_path() / ("calotype_disassemble." + std::to_string(getpid()));
  std::map<std::string, std::string> before;
  std::string path;
  /// With a toolkit that has nothing in it, in place of one that the machine may have.
  void SetUp() override {
    fs::create_directories(folder / "toolkit");
    for (const char* name : {"PATH", "CUDA_HOME", "CUDA_PATH", "CALOTYPE_NVDISASM"})
      if (const char* value = std::getenv(name)) before[name] = value;
    path = before["PATH"];
    unsetenv("CUDA_PATH");
    unsetenv("CALOTYPE_NVDISASM");
    setenv("CUDA_HOME", (folder / "toolkit").c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CALOTYPE_NVDISASM"}) unsetenv(name);
    for (const auto& [name, value] : before) setenv(name.c_str(), value.c_str(), 1);
    fs::remove_all(folder);
  }
  fs::path program(const std::string& name, const std::string& script) const {
    std::ofstream(folder / name) << "#!/bin/sh\n" << script;
    chmod((folder / name).c_str(), 0755);
    return folder / name;
  }
  static Diagnostic refused(const std::string& cubin) {
    try {
      cuda::disassemble(cubin);
    } catch (const Error& e) {
      return e.diagnostic();
    }
    return {};
  }
};

TEST_F(Disassemble, ByTheProgramOnThePath) {
  program("nvdisasm", "echo instructions of; cat \"$1\"");
  setenv("PATH", (folder.string() + ":" + path).c_str(), 1);
  EXPECT_EQ(cuda::disassemble("a cubin"), "instructions of\na cubin");
}

TEST_F(Disassemble, ByTheOneThatIsNamed) {
  setenv("CALOTYPE_NVDISASM", program("cuobjdump", "echo \"$1\"; cat \"$2\"").c_str(), 1);
  EXPECT_EQ(cuda::disassemble("a cubin"), "--dump-sass\na cubin");
  setenv("CALOTYPE_NVDISASM", "/no/such/program", 1);
  EXPECT_EQ(refused("a cubin").value, "/no/such/program");
}

TEST_F(Disassemble, WithoutAFolderForFilesItSaysSo) {
  setenv("CALOTYPE_NVDISASM", program("nvdisasm", "cat \"$1\"").c_str(), 1);
  const std::string before = std::getenv("TMPDIR") ? std::getenv("TMPDIR") : "";
  setenv("TMPDIR", "/no/such/folder", 1);
  const Diagnostic d = refused("a cubin");
  before.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before.c_str(), 1);
  EXPECT_EQ(d.kind, ErrorKind::Target);
  EXPECT_EQ(d.value, "/no/such/folder");
}

TEST_F(Disassemble, WhatFailsSaysWhy) {
  setenv("CALOTYPE_NVDISASM", program("nvdisasm", "echo it is no cubin >&2; exit 3").c_str(), 1);
  const Diagnostic d = refused("a cubin");
  EXPECT_EQ(d.kind, ErrorKind::Target);
  EXPECT_NE(d.message.find("ends with status 3: it is no cubin"), std::string::npos) << d.message;
}

TEST_F(Disassemble, WhereThereIsNoneItIsSaidWhatToInstall) {
  setenv("PATH", folder.c_str(), 1);
  const Diagnostic d = refused("a cubin");
  EXPECT_EQ(d.kind, ErrorKind::Target);
  EXPECT_NE(d.legal.find("cuda-nvdisasm"), std::string::npos) << d.legal;
}

}  // namespace
