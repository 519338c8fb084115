// Calls of a hand-written plan on the host: what is refused, with which words, and that nothing is written
// then.

#include "runtime/plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sample_plan.h"

namespace {

using namespace calotype_test;

int brighten_on_host(void* context, const int64_t* scalars, void* const* buffers) {
  EXPECT_NE(context, nullptr);
  brighten(scalars, buffers);
  return 0;
}

const calotype_plan_function kFunction = {.name = "brighten",
                                          .gpu = 0,
                                          .first_scalar = 0,
                                          .scalar_count = 5,
                                          .first_buffer = 0,
                                          .buffer_count = 3,
                                          .grid = {},
                                          .block = {},
                                          .max_threads = 0};

class PlanCall : public ::testing::Test {
 protected:
  Image a{7, 5, 9, 1}, out{7, 5, 11, 0};
  calotype_context context{};
  std::vector<calotype_argument> arguments;
  calotype_host_function entry = brighten_on_host;

  calotype_error_kind call() {
    arguments = {{&a.buffer, 0}, {nullptr, bits_of(2.0f)}, {&out.buffer, 0}};
    return call_with(arguments);
  }
  calotype_error_kind call_with(const std::vector<calotype_argument>& args) {
    const calotype_plan plan = sample_plan(&kFunction);
    const calotype_plan_code code{&entry, nullptr};
    return calotype_plan_run(&plan, &code, &context, args.data(), static_cast<uint32_t>(args.size()));
  }
  void expect_refused(const std::string& func, const std::string& message, const std::string& value) {
    const std::vector<uint8_t> before = out.memory;
    EXPECT_EQ(call(), CALOTYPE_BAD_ARGUMENT);
    EXPECT_EQ(context.error.kind, CALOTYPE_BAD_ARGUMENT);
    EXPECT_EQ(context.error.func, func);
    EXPECT_EQ(context.error.message, message);
    EXPECT_EQ(context.error.value, value);
    EXPECT_EQ(out.memory, before);
  }
};

TEST_F(PlanCall, RunsAndWritesOnlyElements) {
  ASSERT_EQ(call(), CALOTYPE_GOOD) << context.error.message;
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 7; ++x) EXPECT_EQ(out.memory[y * 11 + x], 2 * (1 + x + 3 * y));
    for (int x = 7; x < 11; ++x) EXPECT_EQ(out.memory[y * 11 + x], 0xee);
  }
}

TEST_F(PlanCall, CountOfArguments) {
  EXPECT_EQ(call_with({{&a.buffer, 0}}), CALOTYPE_BAD_ARGUMENT);
  EXPECT_STREQ(context.error.message, "the call has 1 arguments, where 3 are needed");
}

TEST_F(PlanCall, BufferAndScalarExchanged) {
  EXPECT_EQ(call_with({{nullptr, 3}, {nullptr, 0}, {&out.buffer, 0}}), CALOTYPE_BAD_ARGUMENT);
  EXPECT_STREQ(context.error.message, "the argument is a scalar, where a buffer of rank 2 is needed");
  EXPECT_EQ(call_with({{&a.buffer, 0}, {&a.buffer, 0}, {&out.buffer, 0}}), CALOTYPE_BAD_ARGUMENT);
  EXPECT_STREQ(context.error.func, "gain");
}

TEST_F(PlanCall, Null) {
  a.buffer.data = nullptr;
  expect_refused("a", "the buffer has no data", "null");
}

TEST_F(PlanCall, Type) {
  a.buffer.type = {CALOTYPE_BFLOAT, 16};
  expect_refused("a", "the buffer has element type bf16, where u8 is needed", "bf16");
}

TEST_F(PlanCall, Rank) {
  out.buffer.rank = 1;
  expect_refused("out", "the buffer has rank 1, where rank 2 is needed", "1");
}

TEST_F(PlanCall, NegativeExtent) {
  a.buffer.dims[1].extent = -2;
  expect_refused("a", "dimension 1 has a negative extent", "-2");
}

TEST_F(PlanCall, ZeroStrideOfAnOutput) {
  out.buffer.dims[1].stride = 0;
  expect_refused("out", "dimension 1 has stride 0, so that several elements of the output share memory", "0");
}

TEST_F(PlanCall, ZeroStrideOfAnInputIsABroadcast) {
  a.buffer.dims[1].stride = 0;
  ASSERT_EQ(call(), CALOTYPE_GOOD);
  EXPECT_EQ(out.memory[4 * 11 + 2], 2 * 3);
}

TEST_F(PlanCall, StridesThatFoldAnOutput) {
  out.buffer.dims[1].stride = 6;
  expect_refused("out", "the strides of the output make several elements share memory", "");
}

TEST_F(PlanCall, ReachBeyondMemory) {
  a.buffer.dims[1] = {0, INT64_MAX, INT64_MAX};
  expect_refused("a", "extents and strides reach beyond the 64-bit address space", "");
}

TEST_F(PlanCall, CoordinatesBeyond64Bits) {
  a.buffer.dims[0].min = INT64_MAX;
  expect_refused("a", "dimension 0 has coordinates beyond 64 bits", "9223372036854775807");
}

TEST_F(PlanCall, DeviceMemoryOnTheHost) {
  a.buffer.device = 1;
  expect_refused("a", "the buffer is in device memory, but the kernel runs on the host", "1");
}

TEST_F(PlanCall, OverlapOfOutputAndInput) {
  out.buffer.data = a.memory.data() + 8;
  out.buffer.dims[1].stride = 9;
  expect_refused("out", "the output shares memory with input 'a'", "a");
}

TEST_F(PlanCall, InterleavedInAndOutAreGood) {
  // rows of one image in turn
  Image both(7, 10, 8, 1);
  a.buffer = out.buffer = both.buffer;
  a.buffer.dims[1] = out.buffer.dims[1] = {0, 5, 16};
  out.buffer.data = both.memory.data() + 8;
  ASSERT_EQ(call(), CALOTYPE_GOOD) << context.error.message;
  EXPECT_EQ(both.memory[8 + 16 * 4 + 6], 2 * (1 + 6 + 3 * 8));
}

TEST_F(PlanCall, ConditionWithValues) {
  out.buffer.dims[0].extent = 6;
  expect_refused("out", "dimension 0 has extent 6 but must have 7", "6");
}

TEST_F(PlanCall, ConditionWithAFloat) {
  out.buffer.dims[1].extent = 4;
  expect_refused("out", "dimension 1 must have extent 5 at gain 2", "5");
}

TEST_F(PlanCall, SizesThatOverflow) {
  // strides of 0 keep the span small, so that only the product of extents is too large
  a.buffer.dims[0] = {0, INT64_MAX / 2, 0};
  a.buffer.dims[1] = {0, 7, 0};
  expect_refused("brighten", "the sizes are too large: total leaves 64 bits", "");
}

TEST_F(PlanCall, EmptyOutputDoesNothing) {
  entry = [](void*, const int64_t*, void* const*) { return 1; };
  out.buffer.dims[0].extent = 0;
  out.buffer.data = nullptr;
  EXPECT_EQ(call(), CALOTYPE_GOOD) << context.error.message;
  out.buffer.type.bits = 16;  // what an argument is in itself is looked at all the same
  EXPECT_EQ(call(), CALOTYPE_BAD_ARGUMENT);
}

TEST_F(PlanCall, StatusOfTheFunction) {
  entry = [](void*, const int64_t*, void* const*) { return 1; };
  EXPECT_EQ(call(), CALOTYPE_CHECK_FAILED);
  entry = [](void*, const int64_t*, void* const*) { return 2; };
  EXPECT_EQ(call(), CALOTYPE_OUT_OF_MEMORY);
  entry = brighten_on_host;
  EXPECT_EQ(call(), CALOTYPE_GOOD);
  EXPECT_EQ(context.error.kind, CALOTYPE_GOOD);
}

struct Counter {
  int allocated = 0, released = 0, failures = 0;
  bool refuse = false;
};

TEST_F(PlanCall, Hooks) {
  Counter counter;
  context.user = &counter;
  context.allocate = [](void* user, size_t bytes) -> void* {
    auto* c = static_cast<Counter*>(user);
    if (c->refuse) return nullptr;
    ++c->allocated;
    return malloc(bytes);
  };
  context.release = [](void* user, void* memory) {
    ++static_cast<Counter*>(user)->released;
    free(memory);
  };
  context.failed = [](void* user, const calotype_error* error) {
    ++static_cast<Counter*>(user)->failures;
    EXPECT_NE(error->kind, CALOTYPE_GOOD);
  };
  EXPECT_EQ(call(), CALOTYPE_GOOD);
  EXPECT_EQ(counter.allocated, 1);
  EXPECT_EQ(counter.released, 1);
  counter.refuse = true;
  EXPECT_EQ(call(), CALOTYPE_OUT_OF_MEMORY);
  EXPECT_STREQ(context.error.message, "no memory for 35 bytes of storage");
  EXPECT_EQ(counter.failures, 1);
}

/// The call with a range of the parameter, which is of this type and has these bits.
calotype_error_kind with_range(calotype_context& context, calotype_type type, double low, double high,
                               int64_t bits) {
  Image a(7, 5, 9, 1), out(7, 5, 11, 0);
  std::vector<calotype_plan_argument> arguments_of_plan(kArguments, kArguments + 3);
  arguments_of_plan[1].type = type;
  arguments_of_plan[1].has_range = 1;
  arguments_of_plan[1].low = low;
  arguments_of_plan[1].high = high;
  calotype_plan plan = sample_plan(&kFunction);
  plan.arguments = arguments_of_plan.data();
  const calotype_argument arguments[] = {{&a.buffer, 0}, {nullptr, bits}, {&out.buffer, 0}};
  return calotype_plan_check_call(&plan, &context, arguments, 3);
}

TEST(PlanRange, OfEveryType) {
  calotype_context context{};
  const auto holds = [&](calotype_type type, double low, double high, int64_t bits) {
    return with_range(context, type, low, high, bits) == CALOTYPE_GOOD;
  };
  const calotype_type s32{CALOTYPE_INT, 32}, u8{CALOTYPE_UINT, 8}, u64{CALOTYPE_UINT, 64},
      f32{CALOTYPE_FLOAT, 32}, f64{CALOTYPE_FLOAT, 64}, f16{CALOTYPE_FLOAT, 16}, bf16{CALOTYPE_BFLOAT, 16};
  EXPECT_TRUE(holds(s32, -3, 5, -3) && holds(s32, -3, 5, 5));
  EXPECT_FALSE(holds(s32, -3, 5, -4) || holds(s32, -3, 5, 6));
  EXPECT_TRUE(holds(u8, 1, 255, 255));
  EXPECT_FALSE(holds(u8, 1, 255, 0));
  EXPECT_FALSE(holds(u64, 0, 5, -1)) << "the largest value";
  EXPECT_TRUE(holds(f32, -0.5, 2, bits_of(2.0f)) && holds(f32, -0.5, 2, bits_of(-0.5f)));
  EXPECT_FALSE(holds(f32, -0.5, 2, bits_of(2.001f)) || holds(f32, -0.5, 2, bits_of(NAN)) ||
               holds(f32, -0.5, 2, bits_of(INFINITY)));
  int64_t wide;
  const double tenth = 0.1;
  memcpy(&wide, &tenth, sizeof wide);
  EXPECT_TRUE(holds(f64, 0.1, 0.1, wide));
  EXPECT_FALSE(holds(f64, 0.2, 0.3, wide));
  // 1, -2, the least subnormal, 65504, infinity, NaN
  EXPECT_TRUE(holds(f16, 1, 1, 0x3c00) && holds(f16, -2, -2, 0xc000) &&
              holds(f16, 5.9604644775390625e-8, 6e-8, 1) && holds(f16, 65504, 65504, 0x7bff) &&
              holds(f16, -6e-8, 0, 0x8001));
  EXPECT_FALSE(holds(f16, 0, 1e9, 0x7c00) || holds(f16, 0, 1e9, 0x7e00) || holds(f16, 0, 1e9, 0xfc00));
  EXPECT_TRUE(holds(bf16, 1, 1, 0x3f80) && holds(bf16, -2, -2, 0xc000));
  EXPECT_FALSE(holds(bf16, 0, 1e9, 0x7fc0));
  EXPECT_FALSE(holds(f32, 0.1f, 2, bits_of(0.05f)));
  EXPECT_STREQ(context.error.func, "gain");
  EXPECT_STREQ(context.error.message, "the parameter is 0.0500000007, outside its range");
  EXPECT_STREQ(context.error.legal, "a value from 0.100000001 to 2");
}

}  // namespace
