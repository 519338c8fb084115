// Buffers: memory, strides, views of it, and access by value.

#include "calotype/buffer.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "helpers.h"

namespace calotype {
namespace {

using test::refused;

TEST(Buffer, OwnedMemoryIsDenseAlignedAndShared) {
  Buffer b(Float(32), {3, 5});
  EXPECT_EQ(b.type(), Float(32));
  EXPECT_EQ(b.rank(), 2);
  EXPECT_EQ(b.elements(), 15);
  EXPECT_EQ(b.stride(0), 1);
  EXPECT_EQ(b.stride(1), 3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 64, 0u);
  b.at<float>({2, 4}) = 7;
  Buffer same = b;  // NOLINT(performance-unnecessary-copy-initialization): shares the memory
  same.at<float>({1, 4}) = 8;
  EXPECT_EQ(static_cast<float*>(b.data())[13], 8);
  EXPECT_EQ(static_cast<float*>(same.data())[14], 7);
  EXPECT_FALSE(Buffer().defined());
  EXPECT_TRUE(Buffer(Int(8), {}).defined());
  EXPECT_EQ(Buffer(Int(8), {}).elements(), 1);
  EXPECT_EQ(Buffer(Int(8), {4, 0}).elements(), 0);
}

TEST(Buffer, ForeignMemoryWithAnyStrides) {
  std::vector<int> memory(24);
  std::iota(memory.begin(), memory.end(), 0);
  const Buffer rows(memory.data(), {6, 4});
  EXPECT_EQ(rows.at<int>({2, 3}), 20);
  const Buffer reversed(memory.data() + 5, {6, 4}, {-1, 6});
  EXPECT_EQ(reversed.at<int>({0, 0}), 5);
  EXPECT_EQ(reversed.at<int>({5, 3}), 18);
  const Buffer repeated(memory.data() + 3, {4, 2}, {0, 6});
  EXPECT_EQ(repeated.value({3, 1}), 9);
}

TEST(Buffer, Views) {
  std::vector<int> memory(24);
  std::iota(memory.begin(), memory.end(), 0);
  const Buffer b(memory.data(), {6, 4});
  const Buffer c = b.crop(0, 2, 3).crop(1, 1, 2);
  EXPECT_EQ(c.min(0), 2);
  EXPECT_EQ(c.at<int>({2, 1}), 8);
  EXPECT_EQ(c.at<int>({4, 2}), 16);
  EXPECT_EQ(c.translate({-1, 10}).at<int>({-1, 10}), 8);
  EXPECT_EQ(c.transpose({1, 0}).at<int>({2, 4}), 16);
  const Buffer copied = c.transpose({1, 0}).copy();
  EXPECT_EQ(copied.stride(0), 1);
  EXPECT_EQ(copied.stride(1), 2);
  EXPECT_EQ(copied.min(1), 2);
  for (int y = 1; y < 3; ++y) {
    for (int x = 2; x < 5; ++x) EXPECT_EQ(copied.at<int>({y, x}), y * 6 + x);
  }
  memory[8] = 100;
  EXPECT_EQ(copied.at<int>({1, 2}), 8);
  c.crop(0, 3, 1);
  Buffer filled = c;
  filled.fill(-1);
  EXPECT_EQ(std::count(memory.begin(), memory.end(), -1), 6);
  EXPECT_EQ(memory[16], -1);
  EXPECT_EQ(memory[7], 7);
}

TEST(Buffer, ValuesOfAllTypes) {
  for (const char* name :
       {"bool", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "f32", "f64", "bf16"}) {
    const Type type = Type::parse(name);
    const Buffer b(type, {2});
    b.set_value({0}, 1);
    b.set_value({1}, 0);
    EXPECT_EQ(b.value({0}), 1) << name;
    EXPECT_EQ(b.value({1}), 0) << name;
  }
  const Buffer u8(UInt(8), {1}), s16(Int(16), {1}), f16(Float(16), {1}), bf16(BFloat(16), {1});
  u8.set_value({0}, 300);
  EXPECT_EQ(u8.value({0}), 255);
  u8.set_value({0}, 2.5);
  EXPECT_EQ(u8.value({0}), 2);
  u8.set_value({0}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(u8.value({0}), 0);
  s16.set_value({0}, -1e9);
  EXPECT_EQ(s16.value({0}), -32768);
  f16.set_value({0}, 2049);
  EXPECT_EQ(f16.value({0}), 2048);
  // Rounding through float first would give 1 + 2^-7.
  bf16.set_value({0}, 1 + 0x1p-8 + 0x1p-40);
  EXPECT_EQ(bf16.value({0}), 1 + 0x1p-7);
  bf16.set_value({0}, 1 + 0x1p-8);
  EXPECT_EQ(bf16.value({0}), 1);
}

TEST(Buffer, RefusesWhatCannotBe) {
  const Buffer b(Int(32), {3, 5});
  refused(ErrorKind::Usage, [] { Buffer(Int(32), {3, -1}); });
  refused(ErrorKind::Usage, [] { Buffer(Int(32), std::vector<std::int64_t>(9, 1)); });
  refused(ErrorKind::Usage, [] { Buffer(Int(32), {std::int64_t{1} << 40, std::int64_t{1} << 40}); });
  refused(ErrorKind::Usage, [] { Buffer(Float(32, 4), {3}); });
  refused(ErrorKind::Usage, [] { Buffer(Int(32), nullptr, {3, 4}, {1}); });
  refused(ErrorKind::Usage, [&] { b.at<float>({0, 0}); });
  refused(ErrorKind::Usage, [&] { b.at<int>({3, 0}); });
  refused(ErrorKind::Usage, [&] { b.at<int>({0, -1}); });
  refused(ErrorKind::Usage, [&] { b.at<int>({0}); });
  refused(ErrorKind::Usage, [&] { b.crop(0, 1, 3); });
  refused(ErrorKind::Usage, [&] { b.crop(0, -1, 2); });
  refused(ErrorKind::Usage, [&] { b.crop(2, 0, 1); });
  refused(ErrorKind::Usage, [&] { b.translate({1}); });
  refused(ErrorKind::Usage, [&] { b.transpose({0, 0}); });
}

TEST(Buffer, SlicesAndTheirInverse) {
  std::vector<int> memory(24);
  std::iota(memory.begin(), memory.end(), 0);
  const Buffer b = Buffer(memory.data(), {2, 3, 4}).translate({0, 10, 20});
  for (int d = 0; d < 3; ++d)
    for (std::int64_t at = b.min(d); at < b.min(d) + b.extent(d); ++at) {
      const Buffer part = b.slice(d, at);
      ASSERT_EQ(part.rank(), 2);
      const Buffer back = part.embed(d, at);
      ASSERT_EQ(back.rank(), 3);
      EXPECT_EQ(back.min(d), at);
      EXPECT_EQ(back.extent(d), 1);
      for (std::int64_t i = 0; i < part.elements(); ++i) {
        std::vector<std::int64_t> here = {part.min(0) + i % part.extent(0), part.min(1) + i / part.extent(0)};
        const int value = part.at<int>(here);
        here.insert(here.begin() + d, at);
        EXPECT_EQ(value, b.at<int>(here));
        EXPECT_EQ(value, back.at<int>(here));
      }
    }
  const Buffer row(memory.data(), {6});
  EXPECT_EQ(row.embed(1).stride(1), 6);
  EXPECT_EQ(row.embed(0).stride(1), 1);
  EXPECT_EQ(row.slice(0, 4).at<int>({}), 4);
  refused(ErrorKind::Usage, [&] { b.slice(1, 9); });
  refused(ErrorKind::Usage, [&] { b.slice(3, 0); });
  refused(ErrorKind::Usage, [&] { b.embed(4); });
  refused(ErrorKind::Usage, [&] { Buffer(Int(8), {1, 1, 1, 1, 1, 1, 1, 1}).embed(0); });
}

TEST(Buffer, OnAGpuIsNotReachedFromHere) {
  auto owner = std::make_shared<int>(5);
  float memory[12] = {};  // stands for memory of a GPU: its elements must not be touched
  {
    Buffer b = Buffer::on_gpu(Float(32), memory, {3, 2}, {1, 6}, owner, 2);
    EXPECT_EQ(owner.use_count(), 2);
    EXPECT_EQ(b.gpu(), 2);
    EXPECT_EQ(Buffer(Float(32), {3}).gpu(), -1);
    EXPECT_EQ(b.stride(1), 6);
    const Buffer part = b.crop(1, 1, 1).translate({5, 5});
    EXPECT_EQ(part.gpu(), 2);
    EXPECT_EQ(part.data(), memory + 6);
    const Diagnostic d = refused(ErrorKind::Usage, [&] { b.at<float>({0, 0}) = 1; });
    EXPECT_EQ(d.value, "GPU 2");
    EXPECT_EQ(d.message, "an element of a Buffer whose memory is on a GPU");
    refused(ErrorKind::Usage, [&] { b.value({0, 0}); });
    refused(ErrorKind::Usage, [&] { b.set_value({0, 0}, 1); });
    refused(ErrorKind::Usage, [&] { b.fill(1); });
    refused(ErrorKind::Usage, [&] { b.copy(); });
    refused(ErrorKind::Usage, [&] { Buffer::on_gpu(Float(32), memory, {3}, {}, nullptr, -1); });
  }
  EXPECT_EQ(owner.use_count(), 1);
}

}  // namespace
}  // namespace calotype
