// A kernel from its schedule to its text: what a person reads who debugs it.

#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "codegen/cuda/printer.h"
#include "lower/lower.h"

namespace calotype {
namespace {

TEST(ScheduledKernel, NamesItsStagesAndDirectives) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H + 1}, "in");
  Var x("x"), y("y");
  Func up("up"), out("out");
  up(x, y) = in(x, y) * 2.0f;
  out(x, y) = up(x, y) + up(x, y + 1);
  const Pipeline pipeline("pairs", {in}, {Output(out, {W, H})});
  Schedule s;
  s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 4).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s["up"].compute_at("out", "xo").store_in(Memory::Shared);
  const Target target = Target::cuda("sm_90a");
  const lower::Program program =
      lower::lower(schedule::apply_or_throw(pipeline.graph(), s, target), {.target = target});
  EXPECT_EQ(cuda::print(program.functions), R"(
extern "C" __global__ void __launch_bounds__(128) pairs_out(const float* __restrict__ in,
    float* __restrict__ out, const int W, const int H, const int in_stride_1, const int out_stride_1) {
  const int xo = blockIdx.x;
  const int yo = blockIdx.y;
  const int thread_x = threadIdx.x;
  const int thread_y = threadIdx.y;
  const int up_x_max = min(xo * 32 + 31, W - 1);
  const int up_y_max = min(yo * 4 + 3, H - 1) + 1;
  __shared__ __align__(16) float up[160];
  // produce up: #4 compute_at(out, xo)
  // up: dealt out to the block's threads
  for (int x_o = 0; x_o < up_y_max - yo * 4 + 1; ++x_o) {
    if (xo * 32 + thread_x <= up_x_max) {
      if (thread_y < 1) {
        up[x_o * 32 + thread_x] = in[xo * 32 + thread_x + (x_o + yo * 4) * in_stride_1] * 2.0f;
      }
    }
  }
  __syncthreads();  // up is complete before it is read
  if (yo * 4 + thread_y < H) {
    if (xo * 32 + thread_x < W) {
      const int v0 = thread_x + thread_y * 32;
      out[xo * 32 + thread_x + (yo * 4 + thread_y) * out_stride_1] = up[v0] + up[v0 + 32];
    }
  }
}
)");
}

TEST(ScheduledKernel, FormsOfBuffersMakeAccessesWide) {
  Dim W("W"), H("H");
  ImageParam in(Float(32), {W, H}, "in");
  Var x("x"), y("y");
  Func out("out");
  out(x, y) = in(x, y) * 2.0f;
  const Pipeline pipeline("twice", {in}, {Output(out, {W, H})});
  const Target target = Target::cuda("sm_90a");
  const auto text = [&](const BufferForm& form) {
    Schedule s;
    s["out"].vectorize("x", 8, Tail::Guard).gpu_threads("x.o", 32).gpu_blocks("y");
    for (const char* name : {"in", "out"}) {
      BufferForm own = form;
      own.buffer = name;
      if (form.base_align > 1) s.assume_buffer(own);
    }
    return cuda::print(
        lower::lower(schedule::apply_or_throw(pipeline.graph(), s, target), {.target = target}).functions);
  };
  EXPECT_EQ(text({}).find("f32x"), std::string::npos) << text({});
  for (const bool dense : {false, true}) {
    const std::string wide = text({.dense = dense, .pitch_multiple = 16, .base_align = 16}),
                      half = text({.dense = dense, .pitch_multiple = 8, .base_align = 64});
    EXPECT_NE(wide.find("__align__(16)"), std::string::npos) << wide;
    EXPECT_NE(half.find("__align__(8)"), std::string::npos) << half;
    EXPECT_EQ(half.find("__align__(16)"), std::string::npos) << half;
  }
}

}  // namespace
}  // namespace calotype
