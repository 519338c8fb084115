// A session's own part of the work, on a table of driver functions made here: what it asks once, and what
// again.

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/cuda_device.h"

namespace {

int questions;

struct Session {
  calotype_cuda driver{};
  calotype_cuda_device device{};
  calotype_cuda_kernel kernels[2] = {};
  calotype_cuda_seen seen{};
  calotype_cuda_session session{};
  calotype_context context{};
  calotype_device service;

  Session() {
    questions = 0;
    driver.occupancy = [](int* blocks, calotype_cu_handle, int threads, size_t) {
      ++questions;
      *blocks = 2048 / threads;
      return 0;
    };
    driver.pointer_attributes = [](unsigned count, int* attributes, void** values, calotype_cu_pointer) {
      ++questions;
      for (unsigned i = 0; i < count; ++i)
        if (attributes[i] == CALOTYPE_CU_POINTER_MEMORY_TYPE)
          *static_cast<unsigned*>(values[i]) = CALOTYPE_CU_MEMORY_DEVICE;
      return 0;
    };
    device.driver = &driver;
    device.multiprocessors = 132;
    session.device = &device;
    session.kernels = kernels;
    session.seen = &seen;
    service = calotype_cuda_serve(&session);
  }
  uint32_t resident(uint32_t function, uint32_t threads) {
    const uint32_t block[3] = {threads / 2, 2, 1};
    uint32_t blocks = 0;
    EXPECT_EQ(service.resident(&session, &context, function, block, &blocks), CALOTYPE_GOOD);
    return blocks;
  }
  calotype_error_kind check(uintptr_t address) {
    calotype_buffer b{};
    b.data = reinterpret_cast<void*>(address);
    b.device = 1;
    return service.check_memory(&session, &context, "a", &b);
  }
};

TEST(CudaSession, HowManyBlocksFitIsAskedOnce) {
  Session s;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(s.resident(0, 256), 8u * 132);
  EXPECT_EQ(questions, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(s.resident(1, 512), 4u * 132);
  EXPECT_EQ(questions, 2);
  EXPECT_EQ(s.resident(0, 1024), 2u * 132);
  EXPECT_EQ(s.resident(0, 256), 8u * 132);
  EXPECT_EQ(questions, 4);
}

/// How many clusters fit was asked when the kernel was loaded.
TEST(CudaSession, OfClustersTheNumberIsKnown) {
  Session s;
  s.kernels[1].clustered = 120;
  EXPECT_EQ(s.resident(1, 256), 120u);
  EXPECT_EQ(questions, 0);
  EXPECT_EQ(s.resident(0, 256), 8u * 132);
}

TEST(CudaSession, AddressesAreAskedAboutOnceUntilTheyAreGivenBack) {
  Session s;
  // As many as a call has, and the same memory by two addresses.
  const uintptr_t addresses[] = {0x7f0000000000, 0x7f0000000100, 0x7f0000200000, 0x7f0000400000,
                                 0x7f1000000000};
  for (int call = 0; call < 3; ++call)
    for (const uintptr_t address : addresses) EXPECT_EQ(s.check(address), CALOTYPE_GOOD);
  EXPECT_EQ(questions, 5);
  calotype_cuda_forget(&s.seen, reinterpret_cast<void*>(addresses[0]), 0x200);
  for (const uintptr_t address : addresses) EXPECT_EQ(s.check(address), CALOTYPE_GOOD);
  EXPECT_EQ(questions, 7);
}

TEST(CudaSession, MoreAddressesThanThereIsRoomForAreStillChecked) {
  Session s;
  for (int call = 0; call < 2; ++call)
    for (uintptr_t i = 1; i <= 1000; ++i) EXPECT_EQ(s.check(i << 21), CALOTYPE_GOOD);
  EXPECT_GE(questions, 1000);
  // Sets fill up; the last of each stays.
  questions = 0;
  EXPECT_EQ(s.check(uintptr_t{1000} << 21), CALOTYPE_GOOD);
  EXPECT_EQ(questions, 0);
}

}  // namespace
