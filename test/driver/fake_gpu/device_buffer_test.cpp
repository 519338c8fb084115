// DeviceBuffer on a driver whose device memory is host memory: what is copied, and what lies between the
// elements.

#include "driver/fake_gpu/fake_gpu.h"
#include "support/run.h"

namespace calotype::testing {
namespace {

class FakeBuffers : public FakeGpu {};

TEST_F(FakeBuffers, CopiesOnlyWhenAsked) {
  DeviceBuffer b(Float(32), {100, 3});
  Buffer host = b.host();
  ASSERT_NE(b.device().data(), b.host().data());
  EXPECT_EQ(b.device().gpu(), 0);
  EXPECT_EQ(b.device().stride(1), 100);
  host.fill(1.5);
  b.copy_to_device();
  const auto* there = static_cast<const float*>(b.device().data());
  EXPECT_EQ(there[299], 1.5f);
  host.fill(2.5);
  EXPECT_EQ(there[299], 1.5f);
  b.copy_to_host();
  EXPECT_EQ(host.at<float>({99, 2}), 1.5f);
}

TEST_F(FakeBuffers, ElementsApartKeepWhatLiesBetween) {
  std::vector<std::int16_t> memory(200);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::int16_t>(i);
  // Columns of every second element, upside down, of a box that begins at (3, -2).
  const Buffer host = Buffer(Int(16), memory.data() + 150, {5, 4}, {2, -40}).translate({3, -2});
  DeviceBuffer b(host);
  EXPECT_EQ(b.device().min(0), 3);
  EXPECT_EQ(b.device().min(1), -2);
  EXPECT_EQ(b.device().stride(1), -40);
  b.copy_to_device();
  auto* there = static_cast<std::int16_t*>(b.device().data());
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) {
      EXPECT_EQ(there[2 * x - 40 * y], 150 + 2 * x - 40 * y);
      there[2 * x - 40 * y] = static_cast<std::int16_t>(1000 + 10 * y + x);
    }
  there[1] = -1;  // between two elements
  b.copy_to_host();
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) EXPECT_EQ(host.at<std::int16_t>({3 + x, -2 + y}), 1000 + 10 * y + x);
  EXPECT_EQ(memory[151], 151);
  // In a stream the copy has to be one.
  EXPECT_TRUE(said([&] { b.copy_to_host(nullptr); }));
  EXPECT_TRUE(said([&] { b.copy_to_device(nullptr); }));
}

TEST_F(FakeBuffers, InAStreamWithoutWaiting) {
  DeviceBuffer b(Int(32), {7});
  Buffer(b.host()).fill(3);
  fake().fake_cuda_reset();
  b.copy_to_device(nullptr);
  b.copy_to_host(nullptr);
  EXPECT_EQ(fake().fake_cuda_calls("cuMemcpyHtoDAsync_v2"), 1);
  EXPECT_EQ(fake().fake_cuda_calls("cuMemcpyDtoHAsync_v2"), 1);
  EXPECT_EQ(fake().fake_cuda_calls("cuStreamSynchronize"), 0);
  b.copy_to_host();
  EXPECT_EQ(fake().fake_cuda_calls("cuStreamSynchronize"), 1);
}

TEST_F(FakeBuffers, TheDevicesMemoryLastsAsLongAsItIsUsed) {
  const int before = fake().fake_cuda_allocations();
  Buffer device;
  {
    const DeviceBuffer b(Float(32), {10});
    const DeviceBuffer same = b;  // NOLINT(performance-unnecessary-copy-initialization): shares both memories
    EXPECT_EQ(same.device().data(), b.device().data());
    device = b.device().crop(0, 2, 3);
    EXPECT_EQ(fake().fake_cuda_allocations(), before + 1);
  }
  EXPECT_EQ(fake().fake_cuda_allocations(), before + 1);
  device = Buffer();
  EXPECT_EQ(fake().fake_cuda_allocations(), before);
}

TEST_F(FakeBuffers, MemoryThatWasGivenBackIsFoundOut) {
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  const DeviceBuffer out(Float(32), {10});
  auto in = std::make_unique<DeviceBuffer>(Float(32), std::vector<std::int64_t>{10});
  const Buffer gone = Buffer::on_gpu(Float(32), in->device().data(), {10});
  EXPECT_FALSE(said([&] { kernel.on(nullptr)(gone, out.device()); }));
  EXPECT_FALSE(said([&] { kernel.on(nullptr)(gone, out.device()); }));
  EXPECT_EQ(fake().fake_cuda_calls("cuPointerGetAttributes"), 2);  // each address once
  in.reset();
  const auto what = said([&] { kernel.on(nullptr)(gone, out.device()); });
  ASSERT_TRUE(what);
  EXPECT_EQ(what->func, "in");
}

TEST_F(FakeBuffers, OfNoElementsAndOfNothing) {
  const DeviceBuffer empty(Float(32), {0, 4});
  empty.copy_to_device();
  empty.copy_to_host();
  EXPECT_TRUE(said([] { DeviceBuffer().copy_to_host(); }));
  EXPECT_TRUE(said([] { DeviceBuffer().copy_to_device(); }));
  EXPECT_FALSE(DeviceBuffer().host().defined());
  EXPECT_TRUE(said([] { DeviceBuffer(Buffer(), 0); }));
  EXPECT_TRUE(said([&] { DeviceBuffer(empty.device()); }));
  const auto none = said([] { DeviceBuffer(Float(32), {4}, 5); });
  ASSERT_TRUE(none);
  EXPECT_EQ(none->kind, ErrorKind::Target);
}

TEST_F(FakeBuffers, TensorsGoThroughDlpack) {
  const DeviceBuffer b(Float(32), {6, 4});
  const Buffer back = from_dlpack(to_dlpack(b.device()));
  EXPECT_EQ(back.gpu(), 0);
  EXPECT_EQ(back.data(), b.device().data());
  const DeviceBuffer out(Float(32), {6});
  const Kernel kernel = doubled().compile(blocks(), Target::cuda("sm_90a"));
  EXPECT_FALSE(said([&] { kernel.on(nullptr)(back.slice(1, 2), out.device()); }));
  EXPECT_EQ(fake().fake_cuda_launch_at(0).buffers[1], static_cast<float*>(b.device().data()) + 12);
}

}  // namespace
}  // namespace calotype::testing
