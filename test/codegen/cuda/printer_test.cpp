// The printed source: its text, that it is the same each time, and its parts.

#include "codegen/cuda/printer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "calotype/error.h"
#include "codegen/cuda/kernel_printer.h"
#include "codegen/cuda/types.h"
#include "samples.h"

namespace {

using namespace calotype_test;

TEST(CudaPrinter, ReadableKernel) {
  EXPECT_EQ(cuda::print({blur_row()}), R"(
extern "C" __global__ void __launch_bounds__(64) blur_row(const unsigned char* __restrict__ in,
    unsigned char* __restrict__ out, const int W, const int in_stride_1) {
  const int y = blockIdx.x;
  const int thread_x = threadIdx.x;
  // out: split(x, xo, xi, 64)
  for (int xo = 0; xo < (W + 63) / 64; ++xo) {
    const int x = xo * 64 + thread_x;
    if (x < W) {
      // produce out
      unsigned short sum;
      sum = (unsigned short)((unsigned short)((unsigned short)in[y * in_stride_1 + max(min(x - 1, W - 1), 0)] + (unsigned short)in[y * in_stride_1 + max(min(x, W - 1), 0)]) + (unsigned short)in[y * in_stride_1 + max(min(x + 1, W - 1), 0)]);
      out[y * W + x] = (unsigned char)((unsigned short)(sum + 4) / 9);
    }
  }
}
)");
}

TEST(CudaPrinter, MaskedVectors) {
  const lower::Function f = normalise_rows();
  ir::Facts facts;
  facts.symbols[f.scalars[1]].multiple = 8;
  const std::string text = cuda::print({f}, {.aligned_arguments = true, .facts = facts});
  EXPECT_NE(text.find(R"(struct __align__(16) bf16x8 { bf16 v[8]; };
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(
  bf16x8 x_v = {};
  if (t * 8 + 7 < n) {
    x_v = *(const bf16x8*)(x + r * x_stride_1 + t * 8);
  } else {
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      if (t * 8 + l < n) x_v.v[l] = x[r * x_stride_1 + t * 8 + l];
    }
  }
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"(
    *(bf16x8*)(out + r * x_stride_1 + t * 8) = out_v;
  } else {
    #pragma unroll
    for (int l = 0; l < 8; ++l) {
      if (t * 8 + l < n) {
        out[r * x_stride_1 + t * 8 + l] = bf16_of(row[l] * rsqrtf(mean / (float)n + 1e-06f));
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("__syncthreads();  // sums written by t, read by k\n"), std::string::npos);
  // Half of the multiple: accesses of 8 bytes. No alignment of the pointers: single elements.
  facts.symbols[f.scalars[1]].multiple = 4;
  EXPECT_NE(cuda::print({f}, {.aligned_arguments = true, .facts = facts})
                .find("struct __align__(8) bf16x8_align8 {"),
            std::string::npos);
  facts.symbols[f.scalars[1]].multiple = 8;
  EXPECT_EQ(cuda::print({f}, {.aligned_arguments = false, .facts = facts}).find("bf16x8"), std::string::npos);
  EXPECT_EQ(cuda::print({f}, {.aligned_arguments = true}).find("bf16x8"), std::string::npos);
}

TEST(CudaPrinter, SameInputSameBytes) {
  const auto everything = [] {
    std::vector<lower::Function> all{blur_row(), normalise_rows(), reverse_in_shared()};
    for (const auto& f : vector_kernels()) all.push_back(f);
    const auto operations = all_operations();
    for (const Type t : all_types()) all.push_back(operations_kernel(t, operations));
    return cuda::print(all, {.aligned_arguments = true});
  };
  const std::string once = everything();
  EXPECT_EQ(once, everything());
  EXPECT_GT(once.size(), 10000u);
}

TEST(CudaPrinter, OnlyNeededHelpers) {
  EXPECT_EQ(cuda::print({blur_row()}).find("static"), std::string::npos);
  const std::string text = cuda::print({normalise_rows()});
  EXPECT_NE(text.find("float float_of(bf16 x)"), std::string::npos);
  EXPECT_EQ(text.find("floor_div"), std::string::npos);
}

TEST(CudaPrinter, SharedMemory) {
  const lower::Function large = reverse_in_shared();
  EXPECT_EQ(cuda::dynamic_shared_bytes(large), 65536);
  EXPECT_NE(cuda::print({large}).find("extern __shared__ __align__(128) unsigned char shared_memory[];"),
            std::string::npos);
  EXPECT_EQ(cuda::dynamic_shared_bytes(normalise_rows()), 0);
  EXPECT_NE(cuda::print({normalise_rows()}).find("__shared__ __align__(16) float sums[64];"),
            std::string::npos);
  // Two arrays at one address become places in one block of bytes.
  const auto a = storage("a", Int(32), ir::MemorySpace::Shared, 32, 0),
             b = storage("b", Int(16), ir::MemorySpace::Shared, 32, 64);
  Elementwise k("alias", {argument("out", Int(32), 0, false)});
  k.f.shared_bytes = 128;
  const auto first = ir::allocate(a, ir::store(a, number(1), {number(3)})),
             second = ir::allocate(b, ir::store(b, ir::make_int(Int(16), 2), {number(3)}));
  const std::string text = cuda::print({k.with(ir::block({first, second}))});
  EXPECT_NE(text.find("__shared__ __align__(128) unsigned char shared_memory[128];"), std::string::npos)
      << text;
  EXPECT_NE(text.find("int* const a = (int*)(shared_memory + 0);"), std::string::npos);
  EXPECT_NE(text.find("short* const b = (short*)(shared_memory + 64);"), std::string::npos);
}

TEST(CudaPrinter, NamesAreLegalAndApart) {
  const auto a = argument("A.in(acc)", Float(32), 0, true), b = argument("A.in.acc", Float(32), 1, false),
             c = argument("float", Float(32), 2, false);
  Elementwise k("3 kernels", {a, b, c});
  const std::string text = cuda::print(
      {k.with(ir::block({ir::store(b, load(a, k.i), {k.i}), ir::store(c, load(a, k.i), {k.i})}))});
  EXPECT_NE(text.find("v3_kernels(const float* __restrict__ A_in_acc"), std::string::npos) << text;
  EXPECT_NE(text.find("A_in_acc_1[block * 128 + thread] = A_in_acc[block * 128 + thread];"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("float_1[block * 128 + thread]"), std::string::npos) << text;
  EXPECT_EQ(cuda::kernel_names({blur_row(), blur_row()}),
            (std::vector<std::string>{"blur_row", "blur_row_1"}));
}

TEST(CudaPrinter, DataWrapsAndIndicesDoNot) {
  const auto a = argument("a", Int(32), 0, true), out = argument("out", Int(32), 1, false);
  Elementwise k("wrap", {a, out});
  const auto v = symbol("v"), j = symbol("j");
  const Expr value = add(mul(load(a, var(j)), load(a, var(j))), number(-3));
  const std::string text = cuda::print({k.with(ir::let_stmt(
      j, add(k.i, number(1)), ir::let_stmt(v, value, ir::store(out, mul(var(v), var(v)), {k.i}))))});
  EXPECT_NE(text.find("const int j = block * 128 + thread + 1;"), std::string::npos) << text;
  EXPECT_NE(text.find("const int v = (int)((unsigned int)a[j] * (unsigned int)a[j] + 4294967293u);"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("= (int)((unsigned int)v * (unsigned int)v);"), std::string::npos) << text;
}

TEST(CudaPrinter, CommentsCannotEndEarly) {
  Elementwise k("comment", {argument("out", Int(32), 0, false)});
  const std::string text = cuda::print({k.with(ir::note({"two\nlines \\"}, ir::barrier("why\n*/")))});
  EXPECT_NE(text.find("    // two lines \n"), std::string::npos) << text;
  EXPECT_NE(text.find("    __syncthreads();  // why */\n"), std::string::npos) << text;
}

TEST(CudaPrinter, RefusesWhatIsNotLowered) {
  const auto out = argument("out", Int(32), 0, false);
  Elementwise k("bad", {out});
  EXPECT_THROW(cuda::print({k.with(ir::store(out, var(symbol("stranger")), {k.i}))}), Error);
  EXPECT_THROW(cuda::print({k.with(
                   serial(symbol("p"), number(3), ir::store(out, number(1), {k.i}), ir::Binding::Parallel))}),
               Error);
  const auto heap = storage("heap", Int(32), ir::MemorySpace::Heap, 4);
  EXPECT_THROW(cuda::print({k.with(ir::allocate(heap, ir::store(heap, number(1), {number(0)})))}), Error);
}

TEST(CudaTypes, ConstantsReadBack) {
  EXPECT_EQ(cuda::c_int(Int(32), INT32_MIN), "(-2147483647 - 1)");
  EXPECT_EQ(cuda::c_int(UInt(64), -1), "18446744073709551615ull");
  EXPECT_EQ(cuda::c_float(Float(32), 3), "3.0f");
  EXPECT_EQ(cuda::c_float(Float(32), 0.1f), "0.1f");
  EXPECT_EQ(cuda::c_float(Float(64), 1e300), "1e+300");
  EXPECT_EQ(cuda::c_float(Float(32), -INFINITY), "-__int_as_float(0x7f800000)");
  EXPECT_EQ(cuda::c_float(BFloat(16), 1.5), "bf16_of(1.5f)");
}

TEST(Lanes, ConditionForAllLanes) {
  const auto x = symbol("x");
  const Expr up = ramp(var(x), 4, 3), down = ramp(var(x), 4, -2), ten = splat(number(10), 4);
  const Expr both =
      node(Op::And, Bool(4),
           {less(up, ten), node(Op::Le, Bool(4), {ten, node(Op::Sub, Int(32, 4), {ten, down})})});
  for (const Expr& predicate :
       {less(up, ten), less(ten, up), less(down, ten), less(ten, down), node(Op::Le, Bool(4), {up, ten}),
        both, less(node(Op::Min, Int(32, 4), {up, ten}), splat(number(9), 4))}) {
    const Expr all = cuda::all_lanes(predicate);
    ASSERT_TRUE(all.defined()) << ir::to_string(predicate);
    for (int value = -20; value < 30; ++value) {
      const auto at = [&](const Expr& e) {
        return *ir::as_int(ir::simplify(ir::substitute(e, {{x, number(value)}})));
      };
      bool every = true;
      for (int l = 0; l < 4; ++l) every &= at(cuda::lane_of(predicate, number(l), nullptr)) != 0;
      EXPECT_EQ(at(all) != 0, every) << ir::to_string(predicate) << " at " << value;
    }
  }
  EXPECT_FALSE(cuda::all_lanes(less(up, down)).defined());
  EXPECT_FALSE(cuda::all_lanes(node(Op::Eq, Bool(4), {up, ten})).defined());
}

}  // namespace
