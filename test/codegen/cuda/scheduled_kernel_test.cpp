// A kernel from its schedule to its text: what a person reads who debugs it.

#include <gtest/gtest.h>

#include "calotype/calotype.h"
#include "codegen/cuda/nvrtc_compile.h"
#include "codegen/cuda/printer.h"
#include "lower/lower.h"
#include "runtime/nvrtc.h"

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
  for (int x_o = 0; x_o < 2; ++x_o) {
    if (x_o * 4 + yo * 4 + thread_y <= up_y_max) {
      if (xo * 32 + thread_x <= up_x_max) {
        up[x_o * 128 + thread_y * 32 + thread_x] = in[xo * 32 + thread_x + (x_o * 4 + yo * 4 + thread_y) * in_stride_1] * 2.0f;
      }
    }
  }
  __syncthreads();  // up is complete before it is read
  if (yo * 4 + thread_y < H) {
    if (xo * 32 + thread_x < W) {
      const int v0 = thread_y * 32 + thread_x;
      out[xo * 32 + thread_x + (yo * 4 + thread_y) * out_stride_1] = up[v0] + up[v0 + 32];
    }
  }
}
)");
}

// Sizes without remainders, so that the text is the pipeline alone.
TEST(ScheduledKernel, CopiesRunAheadInARing) {
  Dim W("W"), K("K");
  ImageParam in(Float(32), {W, K}, "in");
  Var x("x");
  RDom k(0, K, "k");
  Func total("total"), out("out");
  total(x) += in(x, k);
  out(x) = total(x);
  const Pipeline pipeline("sums", {in}, {Output(out, {W})});
  Schedule s;
  s.assume("W", Assumption::multiple(64)).assume("K", Assumption::multiple(4));
  s.assume_buffer({.buffer = "in", .dense = true, .base_align = 16});
  s["out"].split("x", "xo", "xi", 64).gpu_blocks("xo").gpu_threads("xi");
  s["total"].compute_at("out", "xo").store_in(Memory::Register).gpu_threads("x");
  s["total"].update().split("k", "ko", "ki", 4).reorder("ki", "x", "ko").gpu_threads("x").pipeline("ko", 3);
  Stage rows = s.in("in", {"total"});
  s[rows].compute_at(s["total"].update(), "ko").store_in(Memory::Shared).vectorize("d0", 4).copy(Copy::Async);
  const Target target = Target::cuda("sm_90a");
  const lower::Program program =
      lower::lower(schedule::apply_or_throw(pipeline.graph(), s, target), {.target = target});
  const std::string code = cuda::print(program.functions);
  EXPECT_EQ(code.substr(code.find("extern")),
            R"(extern "C" __global__ void __launch_bounds__(64) sums_out(const float* __restrict__ in,
    float* __restrict__ out, const int W, const int K) {
  const int xo = blockIdx.x;
  const int thread_x = threadIdx.x;
  __shared__ __align__(16) float in_in_total[768];
  float total;
  // produce total: #7 compute_at(out, xo)
  total = 0.0f;
  // total: #13 pipeline(ko, 3)
  for (int ko_first = 0; ko_first < 2; ++ko_first) {
    if (ko_first * 4 + 3 < K) {
      // produce in.in(total): #15 compute_at(total.update(0), ko)
      copy_async_16(&in_in_total[ko_first * 256 + thread_x * 4],
                    &in[xo * 64 + (thread_x & 15) * 4 + (ko_first * 4 + (thread_x >> 4)) * W]);
    }
    commit_copies();
  }
  // total: #10 split(k, ko, ki, 4)
  for (int ko = 0; ko < (K >> 2); ++ko) {
    const int ko_slot = ko % 3;
    wait_copies<1>();  // for this iteration's in.in(total)
    __syncthreads();  // in.in(total) complete; the slot of the last iteration has been read
    if (ko * 4 + 11 < K) {
      const int ko_slot_1 = (ko + 2) % 3;
      // produce in.in(total): #15 compute_at(total.update(0), ko)
      copy_async_16(&in_in_total[ko_slot_1 * 256 + thread_x * 4],
                    &in[xo * 64 + (thread_x & 15) * 4 + (ko * 4 + (thread_x >> 4) + 8) * W]);
    }
    commit_copies();
    // total: #10 split(k, ko, ki, 4)
    for (int ki = 0; ki < 4; ++ki) {
      total = total + in_in_total[ki * 64 + ko_slot * 256 + thread_x];
    }
  }
  out[xo * 64 + thread_x] = total;
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

/// out(c, y) = in(c, y) - the sum of row y: a row by `blocks` blocks of 64 threads, each with 128 columns.
std::string centred(int blocks) {
  Dim K("K"), N("N");
  ImageParam in(Float(32), {K, N}, "in");
  Var c("c"), y("y");
  RDom k(0, K, "k");
  Func total("total"), out("out");
  total(y) += in(k, y);
  out(c, y) = in(c, y) - total(y);
  const Pipeline pipeline("centred", {in}, {Output(out, {K, N})});
  Schedule s;
  s.assume("K", Assumption::exact(128 * blocks));
  const auto deal_out = [&](Stage stage, const std::string& loop) {
    stage.split(loop, "part", "own", 128).split("own", "o", "t", 64).gpu_threads("t").unroll("o");
    if (blocks > 1) stage.cluster("part");
  };
  s["out"].compute_root().gpu_blocks("y");
  deal_out(s["out"], "c");
  Stage row = s.in("in");
  row.compute_at("out", "y").store_in(Memory::Register);
  deal_out(row, "d0");
  s["total"].compute_at("out", "y").store_in(Memory::Register);
  deal_out(s["total"].update(), "k");
  const Target target = Target::cuda("sm_90a");
  return cuda::print(
      lower::lower(schedule::apply_or_throw(pipeline.graph(), s, target), {.target = target}).functions);
}

TEST(ScheduledKernel, ReducesByThreads) {
  EXPECT_EQ(centred(1), R"(
extern "C" __global__ void __launch_bounds__(64) centred_out(const float* __restrict__ in,
    float* __restrict__ out, const int N, const int in_stride_1, const int out_stride_1) {
  const int y = blockIdx.x;
  const int thread_x = threadIdx.x;
  float in_in[2];
  // produce in.in: #9 compute_at(out, y)
  in_in[0] = in[thread_x + in_stride_1 * y];
  in_in[1] = in[thread_x + in_stride_1 * y + 64];
  float total;
  // produce total: #15 compute_at(out, y)
  total = 0.0f;
  float total_own;
  __shared__ __align__(16) float total_slots[2];
  total_own = 0.0f;
  total_own = total_own + in_in[0];
  total_own = total_own + in_in[1];
  total_own = total_own + __shfl_xor_sync(0xffffffffu, total_own, 16);
  total_own = total_own + __shfl_xor_sync(0xffffffffu, total_own, 8);
  total_own = total_own + __shfl_xor_sync(0xffffffffu, total_own, 4);
  total_own = total_own + __shfl_xor_sync(0xffffffffu, total_own, 2);
  total_own = total_own + __shfl_xor_sync(0xffffffffu, total_own, 1);
  if ((thread_x & 31) == 0) {
    total_slots[thread_x >> 5] = total_own;
  }
  __syncthreads();  // the partial results of total are complete before they are read
  total_own = total_slots[0];
  total_own = total_own + total_slots[1];
  total = total + total_own;
  out[thread_x + out_stride_1 * y] = in_in[0] - total;
  out[thread_x + out_stride_1 * y + 64] = in_in[1] - total;
}
)");
}

TEST(ScheduledKernel, ReducesByBlocksOfACluster) {
  EXPECT_EQ(centred(4),
            R"cuda(static __device__ __forceinline__ unsigned int remote_address(void* place, int rank) {
  unsigned int r;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(r) : "r"((unsigned int)__cvta_generic_to_shared(place)), "r"(rank));
  return r;
}
static __device__ __forceinline__ void send_32(void* place, int rank, unsigned int value, unsigned long long* ring) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::
      "r"(remote_address(place, rank)), "r"(value), "r"(remote_address(ring, rank)) : "memory");
}
static __device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
static __device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
static __device__ __forceinline__ int thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
static __device__ __forceinline__ int threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }
static __device__ __forceinline__ int lane_in_warp() { return thread_in_block() & 31; }
static __device__ __forceinline__ int warps_of_block() { return (threads_of_block() + 31) / 32; }
static __device__ __forceinline__ unsigned int shared_address(const void* place) {
  return (unsigned int)__cvta_generic_to_shared(place);
}
static __device__ __forceinline__ void make_ring(unsigned long long* ring, int slots, int arrivals = warps_of_block()) {
  if (thread_in_block() == 0) {
    for (int i = 0; i < slots; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::
          "r"(shared_address(ring + i)), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
}
static __device__ __forceinline__ void arrive(unsigned long long* full) {
  __syncwarp();
  if (lane_in_warp() == 0)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(shared_address(full)) : "memory");
}
static __device__ __forceinline__ void expect(unsigned long long* ring, int bytes) {
  if (thread_in_block() == 0)
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::
        "r"(shared_address(ring)), "r"(bytes) : "memory");
}
static __device__ __forceinline__ void await_sent(unsigned long long* ring, unsigned int parity) {
  unsigned int done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done) : "r"(shared_address(ring)), "r"(parity) : "memory");
  } while (!done);
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(64) centred_out(const float* __restrict__ in,
    float* __restrict__ out, const int N, const int in_stride_1, const int out_stride_1) {
  __shared__ unsigned long long total_sent[1];
  unsigned int total_sent_turns = 0;
  make_ring(total_sent, 1);
  __syncthreads();  // the rings are ready
  const int block_x = blockIdx.x;
  const int thread_x = threadIdx.x;
  cluster_arrive();  // this block runs
  float in_in[2];
  // produce in.in: #10 compute_at(out, y)
  in_in[0] = in[thread_x + in_stride_1 * (block_x >> 2) + (block_x & 3) * 128];
  in_in[1] = in[thread_x + in_stride_1 * (block_x >> 2) + (block_x & 3) * 128 + 64];
  float total;
  // produce total: #17 compute_at(out, y)
  total = 0.0f;
  float total_own;
  __shared__ __align__(16) float total_slots[8];
  total_own = 0.0f;
  total_own = total_own + in_in[0];
  total_own = total_own + in_in[1];
  total_own = total_own + __shfl_xor_sync(0xffffffffu, total_own, 16);
  total_own = total_own + __shfl_xor_sync(0xffffffffu, total_own, 8);
  total_own = total_own + __shfl_xor_sync(0xffffffffu, total_own, 4);
  total_own = total_own + __shfl_xor_sync(0xffffffffu, total_own, 2);
  total_own = total_own + __shfl_xor_sync(0xffffffffu, total_own, 1);
  cluster_wait();  // every block of the cluster runs
  if ((thread_x & 31) < 4) {
    send_32(&total_slots[(thread_x >> 5) + (block_x & 3) * 2], thread_x & 31, (unsigned int)__float_as_int(total_own), &total_sent[0]);
  }
  expect(&total_sent[0], 32);
  arrive(&total_sent[0]);
  total_sent_turns ^= 1u;
  await_sent(&total_sent[0], ~total_sent_turns & 1u);  // the partial results of total
  total_own = total_slots[0];
  total_own = total_own + total_slots[1];
  total_own = total_own + total_slots[2];
  total_own = total_own + total_slots[3];
  total_own = total_own + total_slots[4];
  total_own = total_own + total_slots[5];
  total_own = total_own + total_slots[6];
  total_own = total_own + total_slots[7];
  total = total + total_own;
  out[thread_x + out_stride_1 * (block_x >> 2) + (block_x & 3) * 128] = in_in[0] - total;
  out[thread_x + out_stride_1 * (block_x >> 2) + (block_x & 3) * 128 + 64] = in_in[1] - total;
}
)cuda");
}

TEST(ScheduledKernel, ReductionsNeedNoStack) {
  calotype_context context{};
  if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  for (const int blocks : {1, 4, 16}) {
    const cuda::Compiled compiled = cuda::compile(centred(blocks), "sm_90a", {.cache = false});
    ASSERT_EQ(compiled.kernels.size(), 1u);
    EXPECT_EQ(compiled.kernels[0].spill_bytes, 0);
    EXPECT_EQ(compiled.kernels[0].stack_bytes, 0);
  }
}

}  // namespace
}  // namespace calotype
