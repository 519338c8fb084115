// What is said where the driver fails, which kernel or argument it names, and that the next call works where
// the driver allows it.

#include "codegen/cuda/device.h"
#include "driver/fake_gpu/fake_gpu.h"

namespace calotype::testing {
namespace {

class FakeErrors : public FakeGpu {
 protected:
  void SetUp() override {
    FakeGpu::SetUp();
    if (IsSkipped()) return;
    // The host's memory of this test may be the device's of an earlier one.
    cuda::Device::get().seen() = {};
    in_ = DeviceBuffer(Float(32), {1000});
    out_ = DeviceBuffer(Float(32), {1000});
  }
  void TearDown() override { in_ = out_ = DeviceBuffer(); }
  /// Calls on the device's memory; without a stream unless `on`.
  static auto call(const Kernel& kernel, bool on = false) {
    return said(
        [&] { on ? kernel.on(nullptr)(in_.device(), out_.device()) : kernel(in_.device(), out_.device()); });
  }
  static void expect_next_call_works(const Kernel& kernel) {
    for (const bool on : {false, true}) {
      const auto what = call(kernel, on);
      EXPECT_FALSE(what) << what->str();
    }
  }
  static bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  static DeviceBuffer in_, out_;
};
DeviceBuffer FakeErrors::in_, FakeErrors::out_;

TEST_F(FakeErrors, NoMemoryForAStage) {
  const Kernel kernel = through_memory().compile(two_kernels(), Target::cuda("sm_90a"));
  for (const bool on : {false, true}) {
    fake().fake_cuda_fail("cuMemAllocAsync", 0, 1, 2);
    const auto what = call(kernel, on);
    ASSERT_TRUE(what);
    EXPECT_EQ(what->kind, ErrorKind::Memory);
    EXPECT_EQ(what->func, "mid");
    EXPECT_TRUE(contains(what->message, "no memory for 4000 bytes of storage")) << what->message;
    expect_next_call_works(kernel);
    EXPECT_EQ(fake().fake_cuda_allocations(), 2);
  }
}

TEST_F(FakeErrors, NoMemoryForACopyOfAnArgument) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  fake().fake_cuda_fail("cuMemAllocAsync", 1, 1, 2);
  const auto what = said([&] { kernel(in_.host(), out_.host()); });
  ASSERT_TRUE(what);
  EXPECT_EQ(what->kind, ErrorKind::Memory);
  EXPECT_EQ(what->func, "out");
  expect_next_call_works(kernel);
  EXPECT_EQ(fake().fake_cuda_allocations(), 2);
}

TEST_F(FakeErrors, NoMemoryForADeviceBuffer) {
  fake().fake_cuda_fail("cuMemAlloc_v2", 0, 1, 2);
  const auto what = said([&] { DeviceBuffer(Float(32), {1000}); });
  ASSERT_TRUE(what);
  EXPECT_EQ(what->kind, ErrorKind::Memory);
  EXPECT_TRUE(contains(what->message, "4000 bytes")) << what->message;
}

using FakePool = FakeGpu;

TEST_F(FakePool, MayBeAbsent) {
  // Asked when the device is opened, so in a process of its own.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    fake().fake_cuda_device_attribute(CALOTYPE_CU_MEMORY_POOLS, 0);
    const Kernel kernel = through_memory().compile(two_kernels(), Target::cuda("sm_90a"));
    const DeviceBuffer in(Float(32), {100}), out(Float(32), {100});
    kernel(in.device(), out.device());
    const auto what = said([&] { kernel.on(nullptr)(in.device(), out.device()); });
    std::fprintf(stderr, "%s: %s\n", what ? what->func.c_str() : "nothing",
                 what ? what->message.c_str() : "");
    std::_Exit(fake().fake_cuda_calls("cuMemAllocAsync"));
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(0),
              "mid: .*allocated in the order of the stream, which No GPU cannot");
}

TEST_F(FakeErrors, TooManyResourcesForALaunch) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  for (const bool on : {false, true}) {
    fake().fake_cuda_function_attribute(CALOTYPE_CU_FUNC_MAX_THREADS, 32);
    fake().fake_cuda_function_attribute(CALOTYPE_CU_FUNC_REGISTERS, 255);
    fake().fake_cuda_fail("cuLaunchKernelEx", 0, 1, 701);
    const auto what = call(kernel, on);
    ASSERT_TRUE(what);
    EXPECT_EQ(what->kind, ErrorKind::Target);
    EXPECT_TRUE(contains(what->message, "launching kernel 'doubled")) << what->message;
    EXPECT_TRUE(contains(what->message, "64 threads with 255 registers each")) << what->message;
    EXPECT_EQ(what->legal, "at most 32 threads a block");
    expect_next_call_works(kernel);
  }
}

TEST_F(FakeErrors, AStreamThatIsNone) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  fake().fake_cuda_fail("cuLaunchKernelEx", 0, 1, 400);
  const auto what = call(kernel, true);
  ASSERT_TRUE(what);
  EXPECT_TRUE(contains(what->message, "in a stream that may not be one of the GPU's primary context"))
      << what->message;
  expect_next_call_works(kernel);
}

TEST_F(FakeErrors, EveryFunctionOfTheDriverThatACallUses) {
  for (const char* symbol : {"cuCtxPushCurrent_v2", "cuModuleLoadData", "cuModuleGetFunction",
                             "cuMemAllocAsync", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
                             "cuLaunchKernelEx", "cuStreamSynchronize", "cuPointerGetAttributes"}) {
    // Loaded anew, so that this is tried again too.
    const Kernel kernel = through_memory().compile(two_kernels(), Target::cuda("sm_90a"));
    fake().fake_cuda_fail(symbol, 0, 1, 1);
    const auto what = said([&] { kernel(in_.host(), out_.host()); });
    ASSERT_TRUE(what) << symbol;
    EXPECT_TRUE(contains(what->message, "invalid argument")) << symbol << ": " << what->message;
    EXPECT_EQ(fake().fake_cuda_allocations(), 2) << symbol;
    const auto next = said([&] { kernel(in_.host(), out_.host()); });
    EXPECT_FALSE(next) << symbol << ": " << next->str();
  }
}

TEST_F(FakeErrors, AFaultSaysSoAndSoDoesWhatFollows) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [] {
    const Kernel kernel = through_memory().compile(two_kernels(), Target::cuda("sm_90a"));
    const Kernel other = doubled().compile(blocks(), Target::cuda("sm_90a"));
    const DeviceBuffer in(Float(32), {100}), out(Float(32), {100});
    kernel(in.device(), out.device());
    fake().fake_cuda_fail("cuStreamSynchronize", 0, -1, 700);
    fake().fake_cuda_fail("cuMemAllocAsync", 0, -1, 700);
    for (const Kernel* k : {&kernel, &kernel, &other}) {
      const auto what = said([&] { (*k)(in.device(), out.device()); });
      std::fprintf(stderr, "%s [%s]\n", what ? what->message.c_str() : "nothing",
                   what ? what->legal.c_str() : "");
    }
    std::_Exit(0);
  };
  fake().fake_cuda_reset();
  EXPECT_EXIT(
      run(), ::testing::ExitedWithCode(0),
      "allocating device memory: an illegal memory access was encountered. The fault ends this process's "
      "use of the GPU \\[a new process.*\\]\n"
      ".*this process has lost the GPU to an earlier fault \\(allocating device memory: an illegal.*\n"
      "doubled: running kernel 'doubled.*': this process has lost the GPU to an earlier fault");
}

TEST_F(FakeErrors, AFaultNamesTheKernels) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run = [](bool several) {
    const Kernel kernel = several ? through_memory().compile(two_kernels(), Target::cuda("sm_90a"))
                                  : doubled().compile(blocks(), Target::cuda("sm_90a"));
    const DeviceBuffer in(Float(32), {100}), out(Float(32), {100});
    fake().fake_cuda_fail("cuStreamSynchronize", 0, 1, 700);
    const auto what = said([&] { kernel(in.device(), out.device()); });
    std::fprintf(stderr, "%s\n", what ? what->message.c_str() : "nothing");
    std::_Exit(0);
  };
  EXPECT_EXIT(run(false), ::testing::ExitedWithCode(0),
              "running kernel 'doubled[^']*': an illegal memory access was encountered. The fault ends");
  EXPECT_EXIT(run(true), ::testing::ExitedWithCode(0),
              "running the kernels '[^']*mid[^']*' to '[^']*out[^']*': an illegal memory access");
}

TEST_F(FakeErrors, SharedMemoryThatADeviceLacks) {
  Dim n("n");
  ImageParam a(Float(32), {n}, "a");
  Var x("x");
  Func mid("mid"), out("out");
  mid(x) = a(x) + 1.0f;
  out(x) = mid(x) + mid(x + 1) * 2.0f;
  const Pipeline pipeline("stencil", {a}, {Output(out, {n - 1})});
  Schedule s;
  s["out"].split("x", "xo", "xi", 16384).split("xi", "xs", "xt", 256).gpu_blocks("xo").gpu_threads("xt");
  s["mid"].compute_at("out", "xo").store_in(Memory::Shared).split("x", "xs", "xt", 256).gpu_threads("xt");
  const Kernel kernel = pipeline.compile(s, Target::cuda("sm_90a"));
  const DeviceBuffer from(Float(32), {20001}), to(Float(32), {20000});
  EXPECT_FALSE(said([&] { kernel(from.device(), to.device()); }));
  // More than 48 KB have to be asked for, and are.
  EXPECT_EQ(fake().fake_cuda_calls("cuFuncSetAttribute"), 1);
  EXPECT_GE(fake().fake_cuda_launch_at(0).shared_bytes, 16385u * 4);

  const Kernel declares = pipeline.compile(s, Target::cuda("sm_90a"));
  fake().fake_cuda_function_attribute(CALOTYPE_CU_FUNC_SHARED, 200 * 1024);
  const auto what = said([&] { declares(from.device(), to.device()); });
  ASSERT_TRUE(what);
  EXPECT_EQ(what->kind, ErrorKind::Target);
  EXPECT_TRUE(contains(what->message, "bytes of shared memory, and No GPU has 232448")) << what->message;
  EXPECT_EQ(what->legal, "at most 232448 bytes");
  fake().fake_cuda_function_attribute(CALOTYPE_CU_FUNC_SHARED, 0);
  EXPECT_FALSE(said([&] { declares(from.device(), to.device()); }));
}

TEST_F(FakeErrors, CodeOfAnotherArchitecture) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_100a"));
  const auto what = call(kernel);
  ASSERT_TRUE(what);
  EXPECT_EQ(what->kind, ErrorKind::Target);
  EXPECT_EQ(what->value, "sm_100a");
  EXPECT_EQ(what->legal, "cuda, or cuda-sm_90a");
  // PTX without features of one architecture runs on every newer one.
  expect_next_call_works(doubled().compile(blocks(), Target::cuda("sm_80")));
}

// ---- Whose memory it is

class FakeMemory : public FakeErrors {};

TEST_F(FakeMemory, AHostPointerSaidToBeTheGpus) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  std::vector<float> memory(1000);
  const Buffer wrong = Buffer::on_gpu(Float(32), memory.data(), {1000});
  for (const bool on : {false, true}) {
    const auto what =
        said([&] { on ? kernel.on(nullptr)(wrong, out_.device()) : kernel(wrong, out_.device()); });
    ASSERT_TRUE(what);
    EXPECT_EQ(what->kind, ErrorKind::Argument);
    EXPECT_EQ(what->func, "in");
    EXPECT_TRUE(
        contains(what->message, "is said to be in the memory of GPU 0, but its address is the host's"))
        << what->message;
  }
  EXPECT_EQ(fake().fake_cuda_launches(), 0);
  expect_next_call_works(kernel);
}

TEST_F(FakeMemory, AGpusPointerSaidToBeTheHosts) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  const auto what = said([&] { kernel(in_.device(), Buffer(Float(32), out_.device().data(), {1000})); });
  ASSERT_TRUE(what);
  EXPECT_EQ(what->func, "out");
  EXPECT_TRUE(contains(what->message, "is said to be in host memory, but its address is of GPU 0"))
      << what->message;
  EXPECT_EQ(fake().fake_cuda_launches(), 0);
}

TEST_F(FakeMemory, OfAnotherGpuOrContext) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  std::vector<float> memory(1000);
  const auto message = [&](const Buffer& b) {
    const auto what = said([&] { kernel.on(nullptr)(b, out_.device()); });
    return what ? what->message : "";
  };
  EXPECT_TRUE(contains(message(Buffer::on_gpu(Float(32), memory.data(), {1000}, {}, nullptr, 3)),
                       "in the memory of GPU 3, and the kernel runs on GPU 0"));
  fake().fake_cuda_own(memory.data(), CALOTYPE_CU_MEMORY_DEVICE, 1, 0, 0);
  const Buffer buffer = Buffer::on_gpu(Float(32), memory.data(), {1000});
  EXPECT_TRUE(contains(message(buffer), "in the memory of GPU 1, and the kernel runs on GPU 0"));
  fake().fake_cuda_own(memory.data(), CALOTYPE_CU_MEMORY_DEVICE, 0, 0, 1);
  EXPECT_TRUE(contains(message(buffer), "belongs to another context of the GPU"));
  EXPECT_EQ(fake().fake_cuda_launches(), 0);
}

TEST_F(FakeMemory, PinnedAndManagedAreTakenEitherWay) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  for (const int managed : {0, 1}) {
    std::vector<float> memory(1000);
    fake().fake_cuda_own(memory.data(), managed ? CALOTYPE_CU_MEMORY_DEVICE : CALOTYPE_CU_MEMORY_HOST, 0,
                         managed, 0);
    EXPECT_FALSE(
        said([&] { kernel.on(nullptr)(Buffer::on_gpu(Float(32), memory.data(), {1000}), out_.device()); }));
    EXPECT_FALSE(said([&] { kernel(Buffer(Float(32), memory.data(), {1000}), out_.device()); }));
  }
}

}  // namespace
}  // namespace calotype::testing
