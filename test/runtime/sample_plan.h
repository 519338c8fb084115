#pragma once
// A plan written by hand, as an ahead-of-time build would print it: out(x, y) = a(x, y) * gain for u8 images
// whose extents must agree, through one workspace of w * h bytes.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime/plan.h"

namespace calotype_test {

// slots: 0 w, 1 h, 2 a.stride.1, 3 out.extent.0, 4 out.extent.1, 5 gain, 6 out.stride.1, 7 total = w * h
inline const calotype_op kOps[] = {
    {CALOTYPE_OP_SLOT, 0},  {CALOTYPE_OP_SLOT, 1},        {CALOTYPE_OP_MUL, 0},  // 0: w * h
    {CALOTYPE_OP_SLOT, 3},  {CALOTYPE_OP_SLOT, 0},        {CALOTYPE_OP_EQ, 0},   // 3: out.extent.0 == w
    {CALOTYPE_OP_SLOT, 3},                                                       // 6
    {CALOTYPE_OP_SLOT, 0},                                                       // 7
    {CALOTYPE_OP_SLOT, 4},  {CALOTYPE_OP_SLOT, 1},        {CALOTYPE_OP_EQ, 0},   // 8: out.extent.1 == h
    {CALOTYPE_OP_SLOT, 1},                                                       // 11
    {CALOTYPE_OP_SLOT, 5},                                                       // 12: gain
    {CALOTYPE_OP_CONST, 1},                                                      // 13
    {CALOTYPE_OP_SLOT, 7},                                                       // 14: total
    {CALOTYPE_OP_SLOT, 7},  {CALOTYPE_OP_CONST, 1000000}, {CALOTYPE_OP_LE, 0},   // 15: total <= 1000000
};
inline const calotype_plan_argument kArguments[] = {{"a", {CALOTYPE_UINT, 8}, 2, 0, 0, 0},
                                                    {"gain", {CALOTYPE_FLOAT, 32}, 0, 1, 0, 0},
                                                    {"out", {CALOTYPE_UINT, 8}, 2, 0, 1, 0}};
inline const calotype_plan_scalar kScalars[] = {{"w", CALOTYPE_SCALAR_EXTENT, 0, 0, {}},
                                                {"h", CALOTYPE_SCALAR_EXTENT, 0, 1, {}},
                                                {"a.stride.1", CALOTYPE_SCALAR_STRIDE, 0, 1, {}},
                                                {"out.extent.0", CALOTYPE_SCALAR_EXTENT, 2, 0, {}},
                                                {"out.extent.1", CALOTYPE_SCALAR_EXTENT, 2, 1, {}},
                                                {"gain", CALOTYPE_SCALAR_PARAM, 1, 0, {}},
                                                {"out.stride.1", CALOTYPE_SCALAR_STRIDE, 2, 1, {}},
                                                {"total", CALOTYPE_SCALAR_VALUE, 0, 0, {0, 3}}};
inline const calotype_plan_value kValues[] = {
    {{6, 1}, 'i'}, {{7, 1}, 'i'}, {{11, 1}, 'i'}, {{12, 1}, 'f'}, {{14, 1}, 'i'}};
inline const calotype_plan_check kChecks[] = {
    {{3, 3}, "dimension 0 has extent {} but must have {}", "out", 0, 2, nullptr},
    {{8, 3}, "dimension 1 must have extent {} at gain {}", "out", 2, 2, nullptr},
    {{15, 3}, "{} elements are more than this kernel takes", "a", 4, 1, "smaller images"}};
inline const calotype_plan_workspace kWorkspace[] = {{"tmp", {14, 1}}};
inline const uint32_t kSlotRefs[] = {0, 1, 2, 6, 5};
inline const int32_t kBufferRefs[] = {0, -1, 2};
inline const uint32_t kSteps[] = {0};

inline calotype_plan sample_plan(const calotype_plan_function* function) {
  calotype_plan plan{};
  plan.name = "brighten";
  plan.ops = kOps;
  plan.arguments = kArguments;
  plan.scalars = kScalars;
  plan.checks = kChecks;
  plan.values = kValues;
  plan.workspace = kWorkspace;
  plan.functions = function;
  plan.slot_refs = kSlotRefs;
  plan.buffer_refs = kBufferRefs;
  plan.steps = kSteps;
  plan.argument_count = 3;
  plan.scalar_count = 8;
  plan.check_count = 3;
  plan.workspace_count = 1;
  plan.function_count = 1;
  plan.step_count = 1;
  plan.stack_size = 2;
  return plan;
}

/// What the plan's function does, on either side: through the workspace, so that it has to be there.
inline void brighten(const int64_t* scalars, void* const* buffers) {
  const int64_t w = scalars[0], h = scalars[1], a_stride = scalars[2], out_stride = scalars[3];
  float gain;
  const auto bits = static_cast<uint32_t>(scalars[4]);
  memcpy(&gain, &bits, sizeof gain);
  const auto* a = static_cast<const uint8_t*>(buffers[0]);
  auto *tmp = static_cast<uint8_t*>(buffers[1]), *out = static_cast<uint8_t*>(buffers[2]);
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x) tmp[y * w + x] = static_cast<uint8_t>(gain * a[y * a_stride + x]);
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x) out[y * out_stride + x] = tmp[y * w + x];
}

struct Image {
  std::vector<uint8_t> memory;
  calotype_buffer buffer{};
  Image(int64_t w, int64_t h, int64_t pitch, uint8_t first)
      : memory(static_cast<size_t>(pitch * h + 1), 0xee) {
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x)
        memory[static_cast<size_t>(y * pitch + x)] = static_cast<uint8_t>(first + x + 3 * y);
    buffer.data = memory.data();
    buffer.type = {CALOTYPE_UINT, 8};
    buffer.rank = 2;
    buffer.dims[0] = {0, w, 1};
    buffer.dims[1] = {0, h, pitch};
  }
};

inline int64_t bits_of(float f) {
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

}  // namespace calotype_test
