// Grids whose blocks go from tile to tile, and scans in registers: their text, and that NVRTC takes it.

#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "codegen/cuda/printer.h"
#include "lower/lower.h"
#include "runtime/nvrtc.h"
#include "support/pipelines.h"

namespace calotype {
namespace {

const Target target = Target::cuda("sm_90a");

std::string text(const Pipeline& pipeline, const Schedule& s) {
  return cuda::print(
      lower::lower(schedule::apply_or_throw(pipeline.graph(), s, target), {.target = target}).functions);
}

Pipeline doubled() {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = in(x, y) * 2.0f;
  return Pipeline("doubled", {in}, {Output(out, {W, H})});
}

Schedule tiles() {
  Schedule s;
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  return s;
}

Schedule in_strips() {
  Schedule s = tiles();
  s["out"].raster(Grouped{8});
  return s;
}

/// Of online(): the scans run together, in registers.
Schedule a_row_to_a_thread() {
  Schedule s;
  s["out"].gpu_threads("i", 128).gpu_blocks("i.o");
  for (const char* f : {"m", "l"}) s[f].compute_at("out", "i.t").store_in(Memory::Register);
  s["l"].update().compute_with(s["m"].update(), "r");
  return s;
}

TEST(TileLoop, IsOverTheTilesOfABlock) {
  Schedule s = tiles();
  s["out"].persistent();
  EXPECT_EQ(text(doubled(), s), R"(
extern "C" __global__ void __launch_bounds__(128) doubled_out(float* __restrict__ out,
    const float* __restrict__ in, const int W, const int H, const int in_stride_1, const int out_stride_1) {
  const int block = blockIdx.x;
  const int thread_x = threadIdx.x;
  const int thread_y = threadIdx.y;
  const int blocks = gridDim.x;
  // #4 persistent()
  for (int round = 0; round < (int)(((((long long)W + 31ll) >> 5) * (((long long)H + 3ll) >> 2) - (long long)block - 1ll) / (long long)blocks) + 1; ++round) {
    const int tile = block + blocks * round;
    const int xo = tile % ((W + 31) >> 5);
    const int yo = (int)min((((long long)H + 3ll) >> 2) - 1ll, (long long)tile / (((long long)W + 31ll) >> 5));
    if (thread_y + yo * 4 < H) {
      if (thread_x + xo * 32 < W) {
        const int v0 = thread_x + xo * 32;
        const int v1 = thread_y + yo * 4;
        out[v0 + v1 * out_stride_1] = in[v0 + v1 * in_stride_1] * 2.0f;
      }
    }
  }
}
)");
}

TEST(TileLoop, GoesThroughStrips) {
  const std::string plain = text(doubled(), in_strips());
  for (const char* line :
       {"  const int tile = blockIdx.x;\n", "  const int strip = min((H + 3) >> 2, 8);\n",
        "  const int strip_first = strip * (tile / (strip * ((W + 31) >> 5)));\n",
        "  const int yo = strip_first + tile % (strip * ((W + 31) >> 5)) % strip_width;\n"})
    EXPECT_NE(plain.find(line), std::string::npos) << line << plain;
}

TEST(TileLoop, ScansAreRegistersOfAThread) {
  const std::string source = text(testing::online(), a_row_to_a_thread());
  EXPECT_NE(source.find("float m[2];"), std::string::npos) << source;
  EXPECT_NE(source.find("float l;"), std::string::npos) << source;
}

TEST(TileLoop, TheirTextCompilesToOneKernelWithoutAStack) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  Schedule persistent = tiles(), both = in_strips();
  persistent["out"].persistent();
  both["out"].persistent();
  for (const std::string& source : {text(doubled(), persistent), text(doubled(), in_strips()),
                                    text(doubled(), both), text(testing::online(), a_row_to_a_thread())}) {
    const cuda::Compiled c = cuda::compile(source, "sm_90a", {.cache = false});
    ASSERT_EQ(c.kernels.size(), 1) << source;
    EXPECT_EQ(c.kernels[0].stack_bytes, 0) << source;
  }
}

}  // namespace
}  // namespace calotype
