// Tensor maps: what the driver is asked to encode, when it is asked again, and what is said where it cannot.

#include "runtime/cuda_tensor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> encoded;
int result;

calotype_cu_result encode(calotype_cu_tensor_map* map, int, uint32_t, void* address, const uint64_t* extents,
                          const uint64_t* strides, const uint32_t*, const uint32_t*, int, int, int, int) {
  ++encoded;
  map->words[0] = reinterpret_cast<uintptr_t>(address);
  map->words[1] = extents[0];
  map->words[2] = extents[1];
  map->words[3] = strides[0];
  return result;
}

struct Maps {
  calotype_cuda driver{};
  calotype_plan_tensor plan{};
  calotype_cuda_encoded kept{};
  calotype_context context{};

  Maps() {
    encoded = result = 0;
    driver.encode_tensor = encode;
    driver.error_name = [](calotype_cu_result, const char** text) {
      *text = "CUDA_ERROR_INVALID_VALUE";
      return 0;
    };
    driver.error_string = [](calotype_cu_result, const char** text) {
      *text = "invalid argument";
      return 0;
    };
    plan.name = "A";
    plan.rank = 2;
    plan.element_bytes = 4;
  }
  calotype_tensor tensor(uintptr_t address, int64_t width = 9, int64_t height = 5, int64_t pitch = 48) {
    calotype_tensor t{};
    t.plan = &plan;
    t.data = reinterpret_cast<void*>(address);
    t.extents[0] = width;
    t.extents[1] = height;
    t.strides[1] = pitch;
    return t;
  }
  calotype_cu_tensor_map map(const calotype_tensor& t) {
    calotype_cu_tensor_map m{};
    EXPECT_EQ(calotype_cuda_tensor_map(&context, &driver, "k", &t, &kept, &m), CALOTYPE_GOOD)
        << context.error.message;
    return m;
  }
};

TEST(CudaTensor, IsEncodedAgainWhereMemoryExtentsOrStridesAreOthers) {
  Maps m;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(m.map(m.tensor(0x1000)).words[0], 0x1000u);
  EXPECT_EQ(encoded, 1);
  EXPECT_EQ(m.map(m.tensor(0x2000)).words[0], 0x2000u);
  EXPECT_EQ(m.map(m.tensor(0x2000, 10)).words[1], 10u);
  EXPECT_EQ(m.map(m.tensor(0x2000, 10, 6)).words[2], 6u);
  EXPECT_EQ(m.map(m.tensor(0x2000, 10, 6, 64)).words[3], 64u);
  EXPECT_EQ(m.map(m.tensor(0x2000, 10, 6, 64)).words[3], 64u);
  EXPECT_EQ(encoded, 5);
}

TEST(CudaTensor, OneRowMayLieAnyhow) {
  Maps m;
  EXPECT_EQ(m.map(m.tensor(0x1000, 9, 1, 0)).words[3], 16u);
}

TEST(CudaTensor, WithoutElementsIsNeverAskedFor) {
  Maps m;
  EXPECT_EQ(m.map(m.tensor(0x1000, 0)).words[0], 0u);
  EXPECT_EQ(m.map(m.tensor(0)).words[1], 0u);
  EXPECT_EQ(encoded, 0);
}

TEST(CudaTensor, FailuresNameTheBuffer) {
  Maps m;
  const calotype_tensor t = m.tensor(0x1000);
  calotype_cu_tensor_map map;
  result = CALOTYPE_CU_INVALID_VALUE;
  for (int i = 0; i < 2; ++i)  // what failed is not kept
    EXPECT_EQ(calotype_cuda_tensor_map(&m.context, &m.driver, "k", &t, &m.kept, &map), CALOTYPE_NO_TARGET);
  EXPECT_EQ(encoded, 2);
  EXPECT_STREQ(m.context.error.message, "making the tensor map of 'A' for kernel 'k': invalid argument");
  EXPECT_STREQ(m.context.error.func, "A");
  m.driver.encode_tensor = nullptr;
  EXPECT_EQ(calotype_cuda_tensor_map(&m.context, &m.driver, "k", &t, &m.kept, &map), CALOTYPE_NO_TARGET);
  EXPECT_NE(std::string(m.context.error.message).find("the NVIDIA driver has no cuTensorMapEncodeTiled"),
            std::string::npos);
  EXPECT_NE(std::string(m.context.error.legal).find("a driver of CUDA 12"), std::string::npos);
}

TEST(CudaTensor, OfSeveralThreadsEachGetsItsOwn) {
  Maps m;
  std::vector<std::thread> threads;
  for (uintptr_t n = 1; n <= 4; ++n)
    threads.emplace_back([&m, n] {
      for (int i = 0; i < 2000; ++i) {
        const uintptr_t address = n << 12;
        calotype_context context{};
        calotype_cu_tensor_map map;
        const calotype_tensor t = m.tensor(address);
        ASSERT_EQ(calotype_cuda_tensor_map(&context, &m.driver, "k", &t, &m.kept, &map), CALOTYPE_GOOD);
        ASSERT_EQ(map.words[0], address);
      }
    });
  for (std::thread& t : threads) t.join();
}

}  // namespace
