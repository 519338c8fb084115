// A plan with a kernel on a device made of host memory: mirrors, workspace, launches, and that all is given
// back.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "runtime/plan.h"
#include "sample_plan.h"

namespace {

using namespace calotype_test;

struct FakeDevice {
  std::map<void*, int64_t> memory;
  int launches = 0, finishes = 0, uploads = 0, fail_after = -1;
  uint32_t grid[3] = {}, block[3] = {}, resident = 1;

  static FakeDevice& of(void* state) { return *static_cast<FakeDevice*>(state); }
  calotype_error_kind step(calotype_context* context) {
    if (fail_after != 0) {
      if (fail_after > 0) --fail_after;
      return CALOTYPE_GOOD;
    }
    fail_after = -1;
    context->error.kind = CALOTYPE_NO_TARGET;
    return CALOTYPE_NO_TARGET;
  }
  /// True if the bytes lie in one piece of memory that is alive.
  bool holds(const void* at, int64_t bytes) const {
    for (const auto& [start, size] : memory) {
      const char* begin = static_cast<const char*>(start);
      if (at >= begin && static_cast<const char*>(at) + bytes <= begin + size) return true;
    }
    return false;
  }

  calotype_device service() {
    return {
        this,
        [](void* s, calotype_context* c, const char* owner, int64_t bytes, void** memory) {
          EXPECT_STRNE(owner, "");
          if (calotype_error_kind kind = of(s).step(c)) return kind;
          *memory = malloc(static_cast<size_t>(bytes));
          memset(*memory, 0xaa, static_cast<size_t>(bytes));
          of(s).memory[*memory] = bytes;
          return CALOTYPE_GOOD;
        },
        [](void* s, void* memory) {
          EXPECT_EQ(of(s).memory.erase(memory), 1u);
          free(memory);
        },
        [](void* s, calotype_context* c, void* to, const void* from, int64_t bytes) {
          ++of(s).uploads;
          EXPECT_TRUE(of(s).holds(to, bytes));
          memcpy(to, from, static_cast<size_t>(bytes));
          return of(s).step(c);
        },
        [](void* s, calotype_context* c, void* to, const void* from, int64_t bytes) {
          EXPECT_TRUE(of(s).holds(from, bytes));
          memcpy(to, from, static_cast<size_t>(bytes));
          return of(s).step(c);
        },
        [](void* s, calotype_context* c, uint32_t function, const uint32_t grid[3], const uint32_t block[3],
           const int64_t* scalars, void* const* buffers, const calotype_tensor*) {
          EXPECT_EQ(function, 0u);
          ++of(s).launches;
          std::copy(grid, grid + 3, of(s).grid);
          std::copy(block, block + 3, of(s).block);
          if (calotype_error_kind kind = of(s).step(c)) return kind;
          brighten(scalars, buffers);
          return CALOTYPE_GOOD;
        },
        [](void* s, calotype_context* c) {
          ++of(s).finishes;
          return of(s).step(c);
        },
        nullptr,
        [](void* s, calotype_context* c, uint32_t function, const uint32_t block[3], uint32_t* blocks) {
          EXPECT_EQ(function, 0u);
          EXPECT_EQ(block[0], 7u);
          *blocks = of(s).resident;
          return of(s).step(c);
        }};
  }
};

// grid (h, 1, 1), block (w, 1, 1)
calotype_plan_function kernel() {
  calotype_plan_function f{};
  f.name = "brighten";
  f.gpu = 1;
  f.scalar_count = 5;
  f.buffer_count = 3;
  f.grid[0] = {11, 1};
  f.block[0] = {7, 1};
  f.grid[1] = f.grid[2] = f.block[1] = f.block[2] = {13, 1};
  return f;
}

class DeviceCall : public ::testing::Test {
 protected:
  FakeDevice device;
  calotype_context context{};
  calotype_plan_function function = kernel();

  calotype_error_kind call(const calotype_buffer& a, const calotype_buffer& out) {
    const calotype_plan plan = sample_plan(&function);
    const calotype_device service = device.service();
    const calotype_plan_code code{nullptr, &service};
    const calotype_argument arguments[] = {{&a, 0}, {nullptr, bits_of(3.0f)}, {&out, 0}};
    return calotype_plan_run(&plan, &code, &context, arguments, 3);
  }
};

TEST_F(DeviceCall, HostBuffersGoThereAndBack) {
  Image a(7, 5, 9, 1), out(7, 5, 11, 0);
  ASSERT_EQ(call(a.buffer, out.buffer), CALOTYPE_GOOD) << context.error.message;
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) EXPECT_EQ(out.memory[y * 11 + x], static_cast<uint8_t>(3 * (1 + x + 3 * y)));
    for (int x = 7; x < 11; ++x) EXPECT_EQ(out.memory[y * 11 + x], 0xee);  // between the rows
  }
  EXPECT_EQ(device.grid[0], 5u);
  EXPECT_EQ(device.block[0], 7u);
  EXPECT_EQ(device.uploads, 1);
  EXPECT_GE(device.finishes, 1);
  EXPECT_TRUE(device.memory.empty());
}

TEST_F(DeviceCall, PersistentGridsAreWhatFits) {
  function.persistent = 1;
  for (const auto& [fit, blocks] : {std::pair{2u, 2u}, {5u, 5u}, {132u, 5u}}) {
    device.resident = fit;
    Image a(7, 5, 9, 1), out(7, 5, 11, 0);
    ASSERT_EQ(call(a.buffer, out.buffer), CALOTYPE_GOOD) << context.error.message;
    EXPECT_EQ(device.grid[0], blocks);
    EXPECT_EQ(device.grid[1], 1u);
  }
}

TEST_F(DeviceCall, DenseOutputIsCopiedAtOnce) {
  Image a(8, 4, 8, 1), out(8, 4, 8, 0);
  ASSERT_EQ(call(a.buffer, out.buffer), CALOTYPE_GOOD);
  EXPECT_EQ(out.memory[31], 3 * (1 + 7 + 9));
  EXPECT_EQ(out.memory[32], 0xee);
  EXPECT_EQ(device.finishes, 1);
}

TEST_F(DeviceCall, BasesAreThoseOfDeviceMemory) {
  calotype_plan plan = sample_plan(&function);
  std::vector<calotype_plan_argument> arguments_of_plan(kArguments, kArguments + 3);
  for (const int i : {0, 2}) {
    arguments_of_plan[static_cast<size_t>(i)].base_align = 1024;
    arguments_of_plan[static_cast<size_t>(i)].base_origin = "#1 assume_buffer(a, 1024)";
  }
  plan.arguments = arguments_of_plan.data();
  calotype_device service = device.service();
  service.launch = [](void*, calotype_context*, uint32_t, const uint32_t*, const uint32_t*,
                      const int64_t* scalars, void* const* buffers, const calotype_tensor*) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffers[0]) % 1024, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffers[2]) % 1024, 0u);
    brighten(scalars, buffers);
    return CALOTYPE_GOOD;
  };
  const calotype_plan_code code{nullptr, &service};
  // Host memory anywhere, also upside down: its copy has the base.
  Image a(7, 5, 9, 1), out(7, 5, 11, 0);
  a.buffer.data = a.memory.data() + 4 * 9;
  a.buffer.dims[1].stride = -9;
  calotype_argument arguments[] = {{&a.buffer, 0}, {nullptr, bits_of(1.0f)}, {&out.buffer, 0}};
  ASSERT_EQ(calotype_plan_run(&plan, &code, &context, arguments, 3), CALOTYPE_GOOD) << context.error.message;
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) EXPECT_EQ(out.memory[y * 11 + x], 1 + x + 3 * (4 - y));
    for (int x = 7; x < 11; ++x) EXPECT_EQ(out.memory[y * 11 + x], 0xee);
  }
  EXPECT_TRUE(device.memory.empty());
  // Device memory is where it is.
  alignas(1024) static uint8_t there[2048];
  calotype_buffer on_device = a.buffer;
  on_device.device = 1;
  on_device.dims[1].stride = 9;
  on_device.data = there;
  arguments[0].buffer = &on_device;
  EXPECT_EQ(calotype_plan_run(&plan, &code, &context, arguments, 3), CALOTYPE_GOOD) << context.error.message;
  on_device.data = there + 512;
  EXPECT_EQ(calotype_plan_run(&plan, &code, &context, arguments, 3), CALOTYPE_BAD_ARGUMENT);
  EXPECT_STREQ(context.error.func, "a");
  EXPECT_STREQ(context.error.value, "512");
  EXPECT_STREQ(
      context.error.message,
      "the data lies 512 bytes past a multiple of 1024, and the schedule's #1 assume_buffer(a, 1024) is for "
      "such multiples");
  EXPECT_STREQ(context.error.legal, "an address that is a multiple of 1024 bytes");
}

/// Of an argument and of the workspace, with what this call has of extents and strides; one row has no
/// stride.
TEST_F(DeviceCall, TensorsAreThoseOfTheCall) {
  const calotype_code width{7, 1}, height{11, 1}, one{13, 1};
  const calotype_plan_tensor tensors[] = {{"a", 0, 2, 1, 0, {16, 8}, {width, height}, {one, width}},
                                          {"tmp", -1, 2, 1, 32, {32, 4}, {width, height}, {one, width}}};
  calotype_plan_function with_tensors = function;
  with_tensors.tensor_count = 2;
  calotype_plan plan = sample_plan(&with_tensors);
  plan.tensors = tensors;
  calotype_device service = device.service();
  service.launch = [](void*, calotype_context*, uint32_t, const uint32_t*, const uint32_t*,
                      const int64_t* scalars, void* const* buffers, const calotype_tensor* t) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(t[i].data, buffers[i]);
      EXPECT_EQ(t[i].extents[0], scalars[0]);
      EXPECT_EQ(t[i].extents[1], scalars[1]);
      EXPECT_EQ(t[i].extents[2] + t[i].strides[2] + t[i].strides[0], t[i].extents[0] > 1 ? 1 : 0);
    }
    EXPECT_EQ(t[0].strides[1], scalars[1] > 1 ? scalars[0] : 0);
    EXPECT_EQ(t[1].plan->swizzle, 32u);
    brighten(scalars, buffers);
    return CALOTYPE_GOOD;
  };
  const calotype_plan_code code{nullptr, &service};
  for (const int64_t h : {5, 1}) {
    Image a(7, h, 7, 1), out(7, h, 7, 0);
    const calotype_argument arguments[] = {{&a.buffer, 0}, {nullptr, bits_of(1.0f)}, {&out.buffer, 0}};
    EXPECT_EQ(calotype_plan_run(&plan, &code, &context, arguments, 3), CALOTYPE_GOOD);
  }
}

TEST_F(DeviceCall, OutputsThatKeepWhatIsNotWrittenGoThereToo) {
  Image a(7, 5, 9, 1), out(7, 5, 7, 50);
  calotype_plan plan = sample_plan(&function);
  std::vector<calotype_plan_argument> arguments_of_plan(kArguments, kArguments + 3);
  arguments_of_plan[2].keeps = 1;
  plan.arguments = arguments_of_plan.data();
  calotype_device service = device.service();
  service.launch = [](void*, calotype_context*, uint32_t, const uint32_t*, const uint32_t*, const int64_t*,
                      void* const* buffers, const calotype_tensor*) {
    static_cast<uint8_t*>(buffers[2])[3] = 7;
    return CALOTYPE_GOOD;
  };
  const calotype_plan_code code{nullptr, &service};
  const calotype_argument arguments[] = {{&a.buffer, 0}, {nullptr, bits_of(3.0f)}, {&out.buffer, 0}};
  ASSERT_EQ(calotype_plan_run(&plan, &code, &context, arguments, 3), CALOTYPE_GOOD);
  EXPECT_EQ(device.uploads, 2);
  EXPECT_EQ(out.memory[2], 52);
  EXPECT_EQ(out.memory[3], 7);
  EXPECT_EQ(out.memory[34], 50 + 6 + 3 * 4);
}

TEST_F(DeviceCall, NegativeStrides) {
  Image a(7, 5, 9, 1), out(7, 5, 11, 0);
  a.buffer.data = a.memory.data() + 4 * 9;
  a.buffer.dims[1].stride = -9;
  ASSERT_EQ(call(a.buffer, out.buffer), CALOTYPE_GOOD);
  EXPECT_EQ(out.memory[0], 3 * (1 + 12));
  EXPECT_EQ(out.memory[4 * 11], 3 * 1);
}

TEST_F(DeviceCall, DeviceBuffersStayAndNothingIsWaitedFor) {
  Image a(7, 5, 9, 1), out(7, 5, 11, 0);
  a.buffer.device = out.buffer.device = 1;
  ASSERT_EQ(call(a.buffer, out.buffer), CALOTYPE_GOOD);
  EXPECT_EQ(out.memory[6], 3 * 7);
  EXPECT_EQ(device.uploads, 0);
  EXPECT_EQ(device.finishes, 0);
}

TEST_F(DeviceCall, EveryFailureGivesMemoryBack) {
  int failures = 0;
  for (int at = 0; at < 12; ++at) {
    Image a(7, 5, 9, 1), out(7, 5, 11, 0);
    device = {};
    device.fail_after = at;
    failures += call(a.buffer, out.buffer) == CALOTYPE_NO_TARGET;
    EXPECT_TRUE(device.memory.empty()) << at;
  }
  EXPECT_GE(failures, 6);
  EXPECT_LT(failures, 12);
}

TEST_F(DeviceCall, BlocksThatAreTooLarge) {
  Image a(1500, 1, 1500, 1), out(1500, 1, 1500, 0);
  EXPECT_EQ(call(a.buffer, out.buffer), CALOTYPE_BAD_ARGUMENT);
  EXPECT_STREQ(context.error.message, "the block would have 1500 along x, where at most 1024 fit");
  EXPECT_EQ(device.launches, 0);
  EXPECT_TRUE(device.memory.empty());
}

TEST_F(DeviceCall, BlocksOfTooManyThreads) {
  function.block[1] = function.grid[0];  // as many rows as the image has
  Image a(40, 26, 40, 1), out(40, 26, 40, 0);
  EXPECT_EQ(call(a.buffer, out.buffer), CALOTYPE_BAD_ARGUMENT);
  EXPECT_STREQ(context.error.func, "brighten");
  EXPECT_STREQ(context.error.message,
               "the block would have 40 x 26 x 1 = 1040 threads, where at most 1024 fit");
  EXPECT_EQ(device.launches, 0);
  EXPECT_TRUE(device.memory.empty());
  Image b(40, 25, 40, 1), fits(40, 25, 40, 0);
  EXPECT_EQ(call(b.buffer, fits.buffer), CALOTYPE_GOOD) << context.error.message;
}

TEST_F(DeviceCall, MemoryIsAskedAboutBeforeAnythingIsDone) {
  static int asked;
  static const char* refused;
  asked = 0;
  const calotype_plan plan = sample_plan(&function);
  calotype_device service = device.service();
  service.check_memory = [](void*, calotype_context* c, const char* name, const calotype_buffer* b) {
    ++asked;
    EXPECT_NE(b->data, nullptr);
    if (!refused || strcmp(name, refused) != 0) return CALOTYPE_GOOD;
    c->error.kind = CALOTYPE_BAD_ARGUMENT;
    return CALOTYPE_BAD_ARGUMENT;
  };
  const calotype_plan_code code{nullptr, &service};
  Image a(7, 5, 9, 1), out(7, 5, 11, 0);
  const calotype_argument arguments[] = {{&a.buffer, 0}, {nullptr, bits_of(3.0f)}, {&out.buffer, 0}};
  refused = "out";
  EXPECT_EQ(calotype_plan_run(&plan, &code, &context, arguments, 3), CALOTYPE_BAD_ARGUMENT);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(device.uploads + device.launches, 0);
  EXPECT_TRUE(device.memory.empty());
  refused = nullptr;
  EXPECT_EQ(calotype_plan_run(&plan, &code, &context, arguments, 3), CALOTYPE_GOOD);
  EXPECT_EQ(out.memory[6], static_cast<uint8_t>(3 * 7));
}

TEST_F(DeviceCall, NoDevice) {
  Image a(7, 5, 9, 1), out(7, 5, 11, 0);
  const calotype_plan plan = sample_plan(&function);
  const calotype_plan_code code{};
  const calotype_argument arguments[] = {{&a.buffer, 0}, {nullptr, 0}, {&out.buffer, 0}};
  EXPECT_EQ(calotype_plan_run(&plan, &code, &context, arguments, 3), CALOTYPE_INTERNAL);
  EXPECT_EQ(calotype_plan_check_call(&plan, &context, arguments, 3), CALOTYPE_GOOD);
}

}  // namespace
