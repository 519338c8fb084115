// Calls of a hand-written plan that keeps its workspace: who computes it, who finds it, and what failures
// leave.

#include <gtest/gtest.h>

#include <iterator>
#include <memory>

#include "sample_plan.h"

namespace {

using namespace calotype_test;

/// What the plan's function was told, and what it is to return.
struct Seen {
  int computed = 0, status = 0;
  const void* tmp = nullptr;
} seen;

/// out = tmp, which holds the gain; computed where it is not there.
int with_kept(void*, const int64_t* scalars, void* const* buffers) {
  const int64_t w = scalars[0], h = scalars[1], stride = scalars[3];
  float gain;
  const auto bits = static_cast<uint32_t>(scalars[4]);
  memcpy(&gain, &bits, sizeof gain);
  auto *tmp = static_cast<uint8_t*>(buffers[1]), *out = static_cast<uint8_t*>(buffers[2]);
  if (scalars[5] == 0) {
    ++seen.computed;
    memset(tmp, static_cast<int>(gain), static_cast<size_t>(w * h));
  }
  seen.tmp = tmp;
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x) out[y * stride + x] = tmp[y * w + x];
  return seen.status;
}

class PlanKept : public ::testing::Test {
 protected:
  PlanKept() : cache(calotype_value_cache_make(), calotype_value_cache_free) {
    seen = {};
    scalars.push_back({"tmp.present", CALOTYPE_SCALAR_PRESENT, 0, 0, {}});
    ops.push_back({CALOTYPE_OP_CONST, INT64_MAX});
  }

  Image a{7, 5, 9, 1}, out{7, 5, 11, 0};
  calotype_context context{};
  std::unique_ptr<calotype_value_cache, void (*)(calotype_value_cache*)> cache;
  std::vector<calotype_plan_scalar> scalars{std::begin(kScalars), std::end(kScalars)};
  std::vector<calotype_op> ops{std::begin(kOps), std::end(kOps)};
  calotype_plan_workspace workspace = kWorkspace[0];

  calotype_error_kind call(float gain, bool with_cache = true) {
    const uint32_t slot_refs[] = {0, 1, 2, 6, 5, 8};
    const calotype_code keys[] = {{12, 1}, {14, 1}};  // the gain, the number of elements
    const calotype_plan_kept kept{"tmp", 8, 0, 1, 0, 2};
    const calotype_plan_function function{.name = "with_kept",
                                          .gpu = 0,
                                          .first_scalar = 0,
                                          .scalar_count = 6,
                                          .first_buffer = 0,
                                          .buffer_count = 3,
                                          .grid = {},
                                          .block = {},
                                          .max_threads = 0};
    calotype_plan plan = sample_plan(&function);
    plan.ops = ops.data();
    plan.scalars = scalars.data();
    plan.scalar_count = static_cast<uint32_t>(scalars.size());
    plan.slot_refs = slot_refs;
    plan.workspace = &workspace;
    plan.kept = &kept;
    plan.keys = keys;
    plan.kept_count = 1;
    const calotype_host_function entry = with_kept;
    const calotype_plan_code code{&entry, nullptr, with_cache ? cache.get() : nullptr};
    const calotype_argument arguments[] = {{&a.buffer, 0}, {nullptr, bits_of(gain)}, {&out.buffer, 0}};
    const calotype_error_kind kind = calotype_plan_run(&plan, &code, &context, arguments, 3);
    EXPECT_TRUE(kind != CALOTYPE_GOOD || out.memory[0] == static_cast<uint8_t>(gain));
    return kind;
  }
};

TEST_F(PlanKept, IsFoundByItsKey) {
  EXPECT_EQ(call(2), CALOTYPE_GOOD) << context.error.message;
  const void* two = seen.tmp;
  EXPECT_EQ(call(2), CALOTYPE_GOOD);
  EXPECT_EQ(seen.tmp, two);
  EXPECT_EQ(seen.computed, 1);
  EXPECT_EQ(call(3), CALOTYPE_GOOD);
  EXPECT_NE(seen.tmp, two);
  EXPECT_EQ(seen.computed, 2);
  a.buffer.dims[1].extent = out.buffer.dims[1].extent = 4;
  EXPECT_EQ(call(2), CALOTYPE_GOOD);
  EXPECT_EQ(seen.computed, 3);
  EXPECT_EQ(calotype_value_cache_entries(cache.get()), 3u);
}

TEST_F(PlanKept, WithoutACacheIsWorkspaceLikeAnyOther) {
  EXPECT_EQ(call(2, false), CALOTYPE_GOOD) << context.error.message;
  EXPECT_EQ(call(2, false), CALOTYPE_GOOD);
  EXPECT_EQ(seen.computed, 2);
}

TEST_F(PlanKept, AFailureLeavesNone) {
  seen.status = 1;
  EXPECT_EQ(call(2), CALOTYPE_CHECK_FAILED);
  EXPECT_EQ(calotype_value_cache_entries(cache.get()), 0u);
  seen.status = 0;
  EXPECT_EQ(call(2), CALOTYPE_GOOD);
  EXPECT_EQ(seen.computed, 2);
  seen.status = 1;
  EXPECT_EQ(call(2), CALOTYPE_CHECK_FAILED);
  EXPECT_EQ(calotype_value_cache_entries(cache.get()), 1u);
}

TEST_F(PlanKept, SaysWhereThereIsNoMemory) {
  workspace.bytes = {static_cast<uint32_t>(ops.size()) - 1, 1};
  EXPECT_EQ(call(2), CALOTYPE_OUT_OF_MEMORY);
  EXPECT_STREQ(context.error.func, "tmp");
  EXPECT_STREQ(context.error.message, "no memory for 9223372036854775807 bytes of values that are kept");
  EXPECT_EQ(seen.computed, 0);
  EXPECT_EQ(calotype_value_cache_entries(cache.get()), 0u);
}

}  // namespace
