// Grids whose blocks go from tile to tile, and scans in registers: their text, and that NVRTC takes it.

#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "codegen/cuda/printer.h"
#include "lower/lower.h"
#include "runtime/nvrtc.h"

namespace calotype {
namespace {

const Target target = Target::cuda("sm_90a");

std::string text(const Pipeline& pipeline, const Schedule& s) {
  return cuda::print(
      lower::lower(schedule::apply_or_throw(pipeline.graph(), s, target), {.target = target}).functions);
}

void expect_compiles(const std::string& source, std::size_t kernels) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  const cuda::Compiled c = cuda::compile(source, "sm_90a", {.cache = false});
  EXPECT_EQ(c.kernels.size(), kernels);
  for (const cuda::KernelFigures& k : c.kernels) EXPECT_EQ(k.stack_bytes, 0) << k.name << source;
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
  expect_compiles(text(doubled(), s), 1);
}

TEST(TileLoop, GoesThroughStrips) {
  Schedule s = tiles();
  s["out"].raster(Grouped{8});
  const std::string plain = text(doubled(), s);
  for (const char* line :
       {"  const int tile = blockIdx.x;\n", "  const int strip = min((H + 3) >> 2, 8);\n",
        "  const int strip_first = strip * (tile / (strip * ((W + 31) >> 5)));\n",
        "  const int yo = strip_first + tile % (strip * ((W + 31) >> 5)) % strip_width;\n"})
    EXPECT_NE(plain.find(line), std::string::npos) << line << plain;
  expect_compiles(plain, 1);
  s["out"].persistent();
  expect_compiles(text(doubled(), s), 1);
}

TEST(TileLoop, ScansAreRegistersOfAThread) {
  Dim N("N"), K("K");
  ImageParam x(Float(32), {N, K}, "x");
  Var i("i"), k("k");
  RDom r(0, K, "r");
  Func m("m"), l("l"), out("out");
  m(i, k) = -1e30f;
  m(i, r) = max(m(i, r - 1), x(i, r));
  l(i, k) = 0.0f;
  l(i, r) = l(i, r - 1) * exp(m(i, r - 1) - m(i, r)) + exp(x(i, r) - m(i, r));
  out(i) = m(i, K - 1) + log(l(i, K - 1));
  Schedule s;
  s["out"].gpu_threads("i", 128).gpu_blocks("i.o");
  for (const char* f : {"m", "l"}) s[f].compute_at("out", "i.t").store_in(Memory::Register);
  s["l"].update().compute_with(s["m"].update(), "r");
  const Pipeline p("online", {x}, {Output(out, {N})});
  EXPECT_NE(text(p, s).find("float m[2];"), std::string::npos) << text(p, s);
  EXPECT_NE(text(p, s).find("float l;"), std::string::npos) << text(p, s);
  expect_compiles(text(p, s), 1);
}

}  // namespace
}  // namespace calotype
