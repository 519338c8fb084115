// Streams, graphs, device memory and faults on a GPU of this machine. What the driver is asked for is checked
// in fake_gpu; here results are.

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "codegen/cuda/device.h"
#include "runtime/nvrtc.h"
#include "support/run.h"

namespace calotype::testing {
namespace {

class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string why = cuda::Device::why_absent();
    if (!why.empty()) GTEST_SKIP() << "no GPU: " << why;
    calotype_context context{};
    if (calotype_nvrtc_version(&context) == 0) GTEST_SKIP() << context.error.message;
  }
  static const calotype_cuda& driver() { return *cuda::Device::get().raw().driver; }

  /// mid = in + 1 in global memory, then out = 2 * mid.
  static Pipeline through_memory() {
    Dim n("n");
    ImageParam in(Float(32), {n}, "in");
    Var x("x");
    Func mid("mid"), out("out");
    mid(x) = in(x) + 1.0f;
    out(x) = mid(x) * 2.0f;
    return Pipeline("through_memory", {in}, {Output(out, {n})});
  }
  static Kernel two_kernels() {
    Schedule s;
    for (const char* stage : {"mid", "out"})
      s[stage].split("x", "xo", "xi", 128).gpu_blocks("xo").gpu_threads("xi");
    s["mid"].compute_root();
    return through_memory().compile(s, Target::cuda());
  }
  static void expect_result(const DeviceBuffer& in, const DeviceBuffer& out) {
    for (std::int64_t i = 0; i < in.host().extent(0); ++i)
      ASSERT_EQ(out.host().at<float>({i}), 2 * (in.host().at<float>({i}) + 1)) << i;
  }
  static void poison_device(const DeviceBuffer& b) {
    poison(b.host());
    b.copy_to_device();
  }
};

class Stream {
 public:
  Stream() : scope_(cuda::Device::get()), driver_(*cuda::Device::get().raw().driver) {
    EXPECT_EQ(driver_.stream_create(&handle_, 1), 0);  // does not wait for the default stream
  }
  ~Stream() { driver_.stream_destroy(handle_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  calotype_cu_handle get() const { return handle_; }
  void wait() const { EXPECT_EQ(driver_.stream_synchronize(handle_), 0); }

 private:
  cuda::DeviceScope scope_;
  const calotype_cuda& driver_;
  calotype_cu_handle handle_ = nullptr;
};

TEST_F(OnGpu, ResultsOfCallsInStreams) {
  const Kernel kernel = two_kernels();
  const Stream stream;
  for (const std::int64_t n : {1, 127, 128, 5000, 1 << 20}) {
    const DeviceBuffer in(random_buffer(Float(32), {n}, 3)), out(Float(32), {n});
    in.copy_to_device();
    poison_device(out);
    kernel.on(stream.get())(in.device(), out.device());
    stream.wait();
    out.copy_to_host();
    expect_result(in, out);
    // The default stream, and a call that waits.
    for (const bool on : {true, false}) {
      poison_device(out);
      if (on)
        kernel.on(nullptr)(in.device(), out.device());
      else
        kernel(in.device(), out.device());
      out.copy_to_host();  // after the default stream's work
      expect_result(in, out);
    }
  }
}

/// A call, captured into a graph instead of made.
class CapturedCall {
 public:
  CapturedCall(const Kernel& kernel, const Stream& stream, const DeviceBuffer& in, const DeviceBuffer& out)
      : stream_(stream) {
    EXPECT_EQ(driver_.capture_begin(stream.get(), CALOTYPE_CU_CAPTURE_GLOBAL), 0);
    EXPECT_NO_THROW(kernel.on(stream.get())(in.device(), out.device()));
    EXPECT_EQ(driver_.capture_end(stream.get(), &graph_), 0);
    EXPECT_EQ(driver_.graph_make(&made_, graph_, 0), 0);
  }
  CapturedCall(const CapturedCall&) = delete;
  CapturedCall& operator=(const CapturedCall&) = delete;
  ~CapturedCall() {
    EXPECT_EQ(driver_.graph_unmake(made_), 0);
    EXPECT_EQ(driver_.graph_destroy(graph_), 0);
  }
  void replay() const { EXPECT_EQ(driver_.graph_launch(made_, stream_.get()), 0); }

 private:
  const calotype_cuda& driver_ = *cuda::Device::get().raw().driver;
  const Stream& stream_;
  calotype_cu_handle graph_ = nullptr, made_ = nullptr;
};

TEST_F(OnGpu, CapturedWorkIsReplayed) {
  const Kernel kernel = two_kernels();
  const Stream stream;
  constexpr std::int64_t n = 10000;
  const DeviceBuffer in(random_buffer(Float(32), {n}, 3)), out(Float(32), {n});
  // The code is loaded, and memory first allocated, while the stream is captured.
  const CapturedCall captured(kernel, stream, in, out);
  for (int replay = 0; replay < 3; ++replay) {
    Buffer(in.host()).set_value({replay}, 100 + replay);
    in.copy_to_device();
    poison_device(out);
    captured.replay();
    // Calls beside the graph have storage of their own.
    kernel.on(nullptr)(in.device(), out.device());
    stream.wait();
    out.copy_to_host();
    expect_result(in, out);
  }
}

/// A graph has tensor maps of its own, whatever other calls copy boxes of.
TEST_F(OnGpu, CapturedBoxesAreThoseOfTheCapture) {
  if (cuda::Device::get().raw().major < 9) GTEST_SKIP() << "no tensor copies on this GPU";
  Dim W("W"), H("H");
  ImageParam a(Float(32), {W, H}, "a");
  Var x("x"), y("y");
  Func turned("turned");
  turned(x, y) = a(x, H - 1 - y);
  Schedule s;
  s["turned"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  s.in("a").compute_at("turned", "xo").store_in(Memory::Shared).copy(Copy::Tma);
  const Kernel kernel = Pipeline("turned", {a}, {Output(turned, {W, H})}).compile(s, Target::cuda());
  const DeviceBuffer in(random_buffer(Float(32), {100, 37}, 3)), other(random_buffer(Float(32), {64, 9}, 4));
  const DeviceBuffer out(Float(32), {100, 37}), other_out(Float(32), {64, 9});
  in.copy_to_device();
  other.copy_to_device();
  const Stream stream;
  const CapturedCall captured(kernel, stream, in, out);
  for (int replay = 0; replay < 3; ++replay) {
    poison_device(out);
    poison_device(other_out);
    kernel(other.device(), other_out.device());
    captured.replay();
    stream.wait();
    for (const auto& [from, to] : {std::pair(&in, &out), {&other, &other_out}}) {
      to->copy_to_host();
      const std::int64_t w = from->host().extent(0), h = from->host().extent(1);
      for (std::int64_t i = 0; i < w * h; ++i)
        ASSERT_EQ(to->host().at<float>({i % w, i / w}), from->host().at<float>({i % w, h - 1 - i / w})) << i;
    }
  }
}

TEST_F(OnGpu, ThreadsWithStreamsOfTheirOwn) {
  const Kernel kernel = two_kernels();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      const Stream stream;
      const DeviceBuffer in(random_buffer(Float(32), {3000 + t}, 3 + static_cast<unsigned>(t))),
          out(Float(32), {3000 + t});
      in.copy_to_device();
      for (int i = 0; i < 50; ++i) {
        kernel.on(stream.get())(in.device(), out.device());
        if (i % 10 == 0) kernel(in.device(), out.device());
      }
      stream.wait();
      out.copy_to_host();
      expect_result(in, out);
    });
  for (std::thread& t : threads) t.join();
}

TEST_F(OnGpu, PointersOfEveryKind) {
  const Kernel kernel = two_kernels();
  const DeviceBuffer in(random_buffer(Float(32), {500}, 3)), out(Float(32), {500});
  in.copy_to_device();
  const auto refused = [&](const Buffer& a, const Buffer& b) {
    try {
      kernel(a, b);
      return std::string("ran");
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Argument);
      return e.diagnostic().func;
    }
  };
  EXPECT_EQ(refused(Buffer::on_gpu(Float(32), in.host().data(), {500}), out.device()), "in");
  EXPECT_EQ(refused(in.device(), Buffer(Float(32), out.device().data(), {500})), "out");
  EXPECT_EQ(refused(in.device(), Buffer::on_gpu(Float(32), out.device().data(), {500}, {}, nullptr, 7)),
            "out");
  kernel(in.host(), out.device());
  out.copy_to_host();
  expect_result(in, out);
  // Memory that was there at an earlier call.
  auto gone = std::make_unique<cuda::DeviceMemory>(cuda::Device::get(), std::size_t{1} << 26);
  const Buffer from_gone = Buffer::on_gpu(Float(32), gone->data(), {500});
  kernel(from_gone, out.device());
  gone.reset();
  EXPECT_EQ(refused(from_gone, out.device()), "in");
}

TEST_F(OnGpu, MemoryThatIsNotThere) {
  const Kernel kernel = two_kernels();
  const auto bytes = static_cast<std::int64_t>(cuda::Device::get().raw().memory_bytes);
  float one = 0;
  try {
    DeviceBuffer(Buffer(Float(32), &one, {bytes}));
    FAIL() << "allocated four times the memory of the device";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Memory);
  }
  const DeviceBuffer in(random_buffer(Float(32), {500}, 3)), out(Float(32), {500});
  kernel(in.host(), out.host());
  expect_result(in, out);
}

/// A process that reads memory which it has given back, then tries again.
[[noreturn]] void fault() {
  Dim n("n");
  ImageParam in(Float(32), {n}, "in");
  Var x("x");
  Func out("out");
  out(x) = in(x) + 1.0f;
  Schedule s;
  s["out"].split("x", "xo", "xi", 128).gpu_blocks("xo").gpu_threads("xi");
  const Kernel kernel = Pipeline("faulty", {in}, {Output(out, {n})}).compile(s, Target::cuda());
  constexpr std::int64_t n_elements = std::int64_t{1} << 24;
  const cuda::Device& device = cuda::Device::get();
  const cuda::DeviceMemory to(device, 4 * n_elements);
  const Buffer result = Buffer::on_gpu(Float(32), to.data(), {n_elements});
  // Given back behind the library's back, so that its address is one that was asked about.
  const cuda::DeviceScope scope(device);
  calotype_cu_pointer from = 0;
  device.raw().driver->allocate(&from, 4 * n_elements);
  const Buffer gone = Buffer::on_gpu(Float(32), reinterpret_cast<void*>(from), {n_elements});
  kernel(gone, result);
  device.raw().driver->release(from);
  for (int call = 0; call < 2; ++call) {
    try {
      kernel(gone, result);
    } catch (const Error& e) {
      std::fprintf(stderr, "%d: %s\n", call, e.diagnostic().message.c_str());
    }
  }
  std::_Exit(0);
}

TEST_F(OnGpu, AFaultNamesItsKernelAndIsRemembered) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fault(), ::testing::ExitedWithCode(0),
              "0: faulty: running kernel 'faulty[^']*': .*The fault ends this process's use of the GPU\n"
              "1: faulty: .*this process has lost the GPU to an earlier fault");
}

}  // namespace
}  // namespace calotype::testing
