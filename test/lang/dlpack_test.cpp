// Tensors of other libraries. The protocol's structures are written out here once more, as dlpack.h has them,
// after the library's header: either may come first.

#include "calotype/dlpack.h"

#include <gtest/gtest.h>

#include "calotype/error.h"
#include "helpers.h"

typedef struct {
  std::int32_t device_type;
  std::int32_t device_id;
} DLDevice;
typedef struct {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor*);
} DLManagedTensor;
typedef struct {
  std::uint32_t major;
  std::uint32_t minor;
} DLPackVersion;
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned*);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

namespace calotype {
namespace {

using test::random_buffer;

/// A tensor of 3 x 4 floats in rows of 5, from the second row's second element of `memory`.
struct Rows {
  std::vector<float> memory = std::vector<float>(25);
  std::int64_t shape[2] = {3, 4}, strides[2] = {5, 1};
  int deleted = 0;
  DLManagedTensor tensor{{memory.data(), {1, 0}, 2, {2, 32, 1}, shape, strides, 6 * sizeof(float)},
                         &deleted,
                         [](DLManagedTensor* own) { ++*static_cast<int*>(own->manager_ctx); }};
  Rows() {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i) + 0.5f;
  }
};

TEST(Dlpack, TakesATensorWithoutACopy) {
  Rows rows;
  {
    const Buffer buffer = from_dlpack(&rows.tensor);
    EXPECT_EQ(buffer.type(), Float(32));
    ASSERT_EQ(buffer.rank(), 2);
    EXPECT_EQ(buffer.extent(0), 4);
    EXPECT_EQ(buffer.extent(1), 3);
    EXPECT_EQ(buffer.stride(1), 5);
    EXPECT_EQ(buffer.at<float>({2, 1}), rows.memory[6 + 5 + 2]);
    buffer.at<float>({0, 0}) = -1;
    EXPECT_EQ(rows.memory[6], -1);
    const Buffer part = buffer.crop(0, 1, 2);
    EXPECT_EQ(rows.deleted, 0);
  }
  EXPECT_EQ(rows.deleted, 1);
}

TEST(Dlpack, StridesMayBeLeftOut) {
  Rows rows;
  rows.tensor.dl_tensor.strides = nullptr;
  const Buffer buffer = from_dlpack(&rows.tensor);
  EXPECT_EQ(buffer.stride(0), 1);
  EXPECT_EQ(buffer.stride(1), 4);
}

TEST(Dlpack, EveryTypeThereAndBack) {
  for (const Type type : {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64), Float(16),
                          Float(32), Float(64), BFloat(16), Bool(), E4M3(), E5M2()}) {
    const Buffer buffer = random_buffer(type, {3, 5, 2}, 6);
    const Buffer strided = buffer.transpose({1, 0, 2}).translate({4, 5, 6});
    for (const bool versioned : {false, true}) {
      const Buffer back =
          versioned ? from_dlpack(to_dlpack_versioned(strided)) : from_dlpack(to_dlpack(strided));
      EXPECT_EQ(back.type(), type);
      EXPECT_EQ(back.data(), buffer.data());
      ASSERT_EQ(back.rank(), 3);
      for (int d = 0; d < 3; ++d) {
        EXPECT_EQ(back.extent(d), strided.extent(d));
        EXPECT_EQ(back.stride(d), strided.stride(d));
        EXPECT_EQ(back.min(d), 0);
      }
    }
  }
}

TEST(Dlpack, Floats8HaveTheirCodes) {
  for (const auto& [type, code] : {std::pair{E4M3(), 10}, std::pair{E5M2(), 12}}) {
    DLManagedTensor* tensor = to_dlpack(Buffer(type, {4}));
    EXPECT_EQ(tensor->dl_tensor.dtype.code, code);
    EXPECT_EQ(tensor->dl_tensor.dtype.bits, 8);
    tensor->deleter(tensor);
  }
}

TEST(Dlpack, ATensorKeepsTheMemoryAlive) {
  DLManagedTensor* tensor = nullptr;
  {
    const Buffer buffer = random_buffer(Int(32), {4}, 1);
    tensor = to_dlpack(buffer);
  }
  EXPECT_EQ(tensor->dl_tensor.ndim, 1);
  EXPECT_EQ(tensor->dl_tensor.shape[0], 4);
  EXPECT_EQ(tensor->dl_tensor.dtype.bits, 32);
  static_cast<std::int32_t*>(tensor->dl_tensor.data)[3] = 77;  // a sanitizer sees a use after free
  tensor->deleter(tensor);
}

TEST(Dlpack, OfAGpuThereAndBack) {
  for (const int device_type : {2, 13}) {  // CUDA, and its managed memory
    Rows rows;
    rows.tensor.dl_tensor.device = {device_type, 1};
    {
      const Buffer buffer = from_dlpack(&rows.tensor);
      EXPECT_EQ(buffer.gpu(), 1);
      EXPECT_EQ(buffer.raw().device, 2);
      // Strides and the byte offset as on the host; nothing is looked at.
      EXPECT_EQ(buffer.data(), rows.memory.data() + 6);
      EXPECT_EQ(buffer.stride(0), 1);
      EXPECT_EQ(buffer.stride(1), 5);
      const Buffer part = buffer.transpose({1, 0}).crop(1, 1, 2);
      DLManagedTensor* tensor = to_dlpack(part);
      EXPECT_EQ(tensor->dl_tensor.device.device_type, 2);
      EXPECT_EQ(tensor->dl_tensor.device.device_id, 1);
      EXPECT_EQ(tensor->dl_tensor.data, rows.memory.data() + 7);
      EXPECT_EQ(tensor->dl_tensor.shape[0], 2);
      EXPECT_EQ(tensor->dl_tensor.strides[0], 1);
      EXPECT_EQ(tensor->dl_tensor.strides[1], 5);
      const Buffer back = from_dlpack(tensor);
      EXPECT_EQ(back.gpu(), 1);
      EXPECT_EQ(rows.deleted, 0);
    }
    EXPECT_EQ(rows.deleted, 1);
  }
}

TEST(Dlpack, PinnedMemoryIsTheHosts) {
  Rows rows;
  rows.tensor.dl_tensor.device = {3, 0};
  EXPECT_EQ(from_dlpack(&rows.tensor).gpu(), -1);
}

TEST(Dlpack, OfRankZeroAndOfNoElements) {
  const Buffer scalar = random_buffer(Float(64), {}, 2);
  EXPECT_EQ(from_dlpack(to_dlpack(scalar)).value({}), scalar.value({}));
  EXPECT_EQ(from_dlpack(to_dlpack(Buffer(Int(8), {0, 3}))).elements(), 0);
}

TEST(Dlpack, RefusalsLeaveTheTensorToTheCaller) {
  const auto refused = [](auto change, const char* text) {
    Rows rows;
    change(rows.tensor.dl_tensor);
    const Diagnostic d = test::refused(ErrorKind::Usage, [&] { from_dlpack(&rows.tensor); });
    EXPECT_NE(d.message.find(text), std::string::npos) << d.message;
    EXPECT_FALSE(d.legal.empty());
    EXPECT_EQ(rows.deleted, 0);
  };
  refused([](DLTensor& t) { t.device.device_type = 7; }, "neither of the host nor of an NVIDIA GPU");
  refused([](DLTensor& t) { t.device = {2, -1}; }, "a GPU of negative number");
  refused([](DLTensor& t) { t.dtype.lanes = 4; }, "elements that a Buffer cannot have");
  refused([](DLTensor& t) { t.dtype.code = 5; }, "elements that a Buffer cannot have");
  refused([](DLTensor& t) { t.dtype.bits = 4; }, "elements that a Buffer cannot have");
  refused([](DLTensor& t) { t.ndim = 9; }, "too many dimensions");
  refused([](DLTensor& t) { t.shape[0] = -1; }, "negative");
  test::refused(ErrorKind::Usage, [] { from_dlpack(static_cast<DLManagedTensor*>(nullptr)); });
  test::refused(ErrorKind::Usage, [] { to_dlpack(Buffer()); });
  DLManagedTensorVersioned* newer = to_dlpack_versioned(random_buffer(Int(8), {3}, 1));
  newer->version.major = 2;
  test::refused(ErrorKind::Usage, [&] { from_dlpack(newer); });
  newer->deleter(newer);
}

}  // namespace
}  // namespace calotype
