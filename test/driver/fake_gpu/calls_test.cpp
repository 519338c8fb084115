// Calls of kernels with and without a stream: what they wait for, allocate and launch, and that graphs can
// hold them.

#include <memory>
#include <thread>

#include "driver/fake_gpu/fake_gpu.h"

namespace calotype::testing {
namespace {

class FakeCalls : public FakeGpu {
 protected:
  template <class... Args>
  static int driver(const char* symbol, Args... args) {
    void* library = dlopen(fake_library().c_str(), RTLD_NOW);
    return reinterpret_cast<int (*)(Args...)>(dlsym(library, symbol))(args...);
  }
  struct Destroy {
    void operator()(void* stream) const { driver("cuStreamDestroy_v2", stream); }
  };
  /// A stream as a user makes it, through the driver.
  static std::unique_ptr<void, Destroy> make_stream() {
    void* stream = nullptr;
    driver("cuStreamCreate", &stream, 0u);
    return std::unique_ptr<void, Destroy>(stream);
  }
  static int calls(const char* symbol) { return fake().fake_cuda_calls(symbol); }
};

TEST_F(FakeCalls, WithoutAStreamWait) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  const DeviceBuffer in(Float(32), {1000}), out(Float(32), {1000});
  fake().fake_cuda_reset();
  kernel(in.device(), out.device());
  EXPECT_EQ(calls("cuLaunchKernelEx"), 1);
  EXPECT_EQ(calls("cuStreamSynchronize"), 1);
  EXPECT_EQ(calls("cuMemcpyHtoDAsync_v2") + calls("cuMemcpyDtoHAsync_v2"), 0);
  const fake_cuda_launch launch = fake().fake_cuda_launch_at(0);
  EXPECT_EQ(launch.grid[0], 16u);
  EXPECT_EQ(launch.block[0], 64u);
  EXPECT_TRUE(launch.early);
  const std::vector<void*> expected{out.device().data(), in.device().data()};
  EXPECT_EQ(std::vector<void*>(launch.buffers, launch.buffers + 2), expected);
  // Host buffers go there and back.
  kernel(in.host(), out.host());
  EXPECT_EQ(calls("cuMemcpyHtoDAsync_v2"), 1);
  EXPECT_EQ(calls("cuMemcpyDtoHAsync_v2"), 1);
  EXPECT_EQ(fake().fake_cuda_allocations(), 2);  // the DeviceBuffers
}

/// It does not wait for the kernel before it, so it must not come onto the GPU before that one's end.
TEST_F(FakeCalls, CodeOfAnOlderArchitectureIsNotLaunchedEarly) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_80"));
  const DeviceBuffer in(Float(32), {1000}), out(Float(32), {1000});
  fake().fake_cuda_reset();
  kernel(in.device(), out.device());
  ASSERT_EQ(calls("cuLaunchKernelEx"), 1);
  EXPECT_FALSE(fake().fake_cuda_launch_at(0).early);
}

TEST_F(FakeCalls, OnAStreamLaunchAndNothingElse) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  const DeviceBuffer in(Float(32), {1000}), out(Float(32), {1000});
  const auto stream = make_stream();
  kernel.on(stream.get())(in.device(), out.device());
  fake().fake_cuda_reset();
  for (int i = 0; i < 3; ++i) kernel.on(stream.get())(in.device(), out.device());
  EXPECT_EQ(calls("cuLaunchKernelEx"), 3);
  EXPECT_EQ(fake().fake_cuda_launch_at(2).stream, stream.get());
  for (const char* other :
       {"cuStreamSynchronize", "cuStreamCreate", "cuMemAlloc_v2", "cuMemAllocAsync", "cuMemFree_v2",
        "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuModuleLoadData", "cuPointerGetAttributes"})
    EXPECT_EQ(calls(other), 0) << other;
  // The default stream is a stream like any other.
  kernel.on(nullptr)(in.device(), out.device());
  EXPECT_EQ(fake().fake_cuda_launch_at(3).stream, nullptr);
  EXPECT_EQ(calls("cuStreamSynchronize"), 0);
}

TEST_F(FakeCalls, WorkspaceIsInTheOrderOfTheStream) {
  const Kernel kernel = through_memory().compile(two_kernels(), Target::cuda("sm_90a"));
  const DeviceBuffer in(Float(32), {1000}), out(Float(32), {1000});
  const auto stream = make_stream();
  kernel.on(stream.get())(in.device(), out.device());
  EXPECT_EQ(calls("cuLaunchKernelEx"), 2);
  EXPECT_EQ(calls("cuMemAllocAsync"), 1);
  EXPECT_EQ(calls("cuMemFreeAsync"), 1);
  EXPECT_EQ(calls("cuStreamSynchronize") + calls("cuMemFree_v2"), 0);
  EXPECT_EQ(fake().fake_cuda_allocations(), 2);
}

TEST_F(FakeCalls, CapturedIntoAGraphAlsoTheFirstTime) {
  for (const bool workspace : {false, true}) {
    fake().fake_cuda_reset();
    const Kernel kernel = workspace ? through_memory().compile(two_kernels(), Target::cuda("sm_90a"))
                                    : doubled().compile(blocks(), Target::cuda("sm_90a"));
    const DeviceBuffer in(Float(32), {1000}), out(Float(32), {1000});
    const auto stream = make_stream();
    for (int time = 0; time < 2; ++time) {
      ASSERT_EQ(driver("cuStreamBeginCapture_v2", stream.get(), 0), 0);
      const auto what = said([&] { kernel.on(stream.get())(in.device(), out.device()); });
      EXPECT_FALSE(what) << what->str();
      void* graph = nullptr;
      EXPECT_EQ(driver("cuStreamEndCapture", stream.get(), &graph), 0);
      EXPECT_NE(graph, nullptr);
    }
    const int launches = fake().fake_cuda_launches();
    EXPECT_EQ(launches, workspace ? 4 : 2);
    for (int i = 0; i < launches; ++i) EXPECT_TRUE(fake().fake_cuda_launch_at(i).captured);
  }
}

TEST_F(FakeCalls, HostMemoryOnAStreamIsRefused) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  const DeviceBuffer in(Float(32), {100}), out(Float(32), {100});
  const auto what = said([&] { kernel.on(nullptr)(in.device(), out.host()); });
  ASSERT_TRUE(what);
  EXPECT_EQ(what->kind, ErrorKind::Argument);
  EXPECT_EQ(what->func, "out");
  EXPECT_NE(what->message.find("which a call on a stream would have to wait for"), std::string::npos)
      << what->message;
  EXPECT_EQ(fake().fake_cuda_launches(), 0);
  EXPECT_FALSE(said([&] { kernel.on(nullptr)(in.device(), out.device()); }));
}

TEST_F(FakeCalls, OtherTargetsHaveNoStreams) {
  const Kernel kernel = doubled().compile(blocks(), Target::interpreter("sm_90a"));
  const auto what = said([&] { kernel.on(nullptr); });
  ASSERT_TRUE(what);
  EXPECT_EQ(what->kind, ErrorKind::Usage);
  EXPECT_EQ(what->value, "cuda-interpreter-sm_90a");
}

TEST_F(FakeCalls, FromSeveralThreadsAtOnce) {
  const Kernel kernel = through_memory().compile(two_kernels(), Target::cuda("sm_90a"));
  constexpr int kThreads = 4, kCalls = 25;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const DeviceBuffer in(Float(32), {100 + t}), out(Float(32), {100 + t});
      const auto stream = make_stream();
      for (int i = 0; i < kCalls; ++i) {
        kernel.on(stream.get())(in.device(), out.device());
        if (i % 5 == 0) kernel(in.device(), out.device());
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(calls("cuLaunchKernelEx"), 2 * kThreads * (kCalls + kCalls / 5));
  EXPECT_EQ(calls("cuModuleLoadData"), 1);
  EXPECT_EQ(fake().fake_cuda_allocations(), 0);
}

TEST_F(FakeCalls, StridesSizesAndAlignmentChooseTheCode) {
  // Vectors of four: rows that are aligned take wide accesses, others the general code.
  Schedule s;
  s["out"]
      .split("x", "xo", "xi", 256)
      .split("xi", "xt", "xv", 4)
      .vectorize("xv")
      .gpu_blocks("xo")
      .gpu_threads("xt");
  const Kernel kernel = doubled().compile(s, Target::cuda("sm_90a"));
  const DeviceBuffer in(Float(32), {1001}), out(Float(32), {1001});
  kernel.on(nullptr)(in.device(), out.device());
  EXPECT_EQ(calls("cuModuleLoadData"), 1);
  kernel.on(nullptr)(in.device().crop(0, 1, 1000).translate({0}), out.device().crop(0, 0, 1000));
  EXPECT_EQ(calls("cuModuleLoadData"), 2);
  kernel.on(nullptr)(in.device(), out.device());
  EXPECT_EQ(calls("cuModuleLoadData"), 2);
  EXPECT_EQ(fake().fake_cuda_launches(), 3);
}

}  // namespace
}  // namespace calotype::testing
