#pragma once
// Functions that compute boxes, for tests of extern stages.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "calotype/runtime.h"

namespace calotype::testing {

/// For each dimension the smallest coordinate and the extent.
using Box = std::vector<std::pair<std::int64_t, std::int64_t>>;

inline Box box_of(const calotype_buffer& b) {
  Box box;
  for (int d = 0; d < b.rank; ++d) box.emplace_back(b.dims[d].min, b.dims[d].extent);
  return box;
}

/// The element at coordinates of a buffer.
template <class T>
T& element(const calotype_buffer& b, const std::vector<std::int64_t>& at) {
  T* p = static_cast<T*>(b.data);
  for (int d = 0; d < b.rank; ++d) p += (at[static_cast<std::size_t>(d)] - b.dims[d].min) * b.dims[d].stride;
  return *p;
}

/// Calls `f` on every point of the buffer's box, dimension 0 fastest.
template <class F>
void each_point(const calotype_buffer& b, F f) {
  std::vector<std::int64_t> at;
  for (int d = 0; d < b.rank; ++d) {
    if (b.dims[d].extent <= 0) return;
    at.push_back(b.dims[d].min);
  }
  while (true) {
    f(at);
    std::size_t d = 0;
    for (; d < at.size() && ++at[d] == b.dims[d].min + b.dims[d].extent; ++d) at[d] = b.dims[d].min;
    if (d == at.size()) return;
  }
}

/// What a function was called with.
struct Call {
  std::vector<Box> outputs, inputs;
};

/// Notes calls, from any thread.
class Calls {
 public:
  void note(const calotype_extern_call& call) {
    Call c;
    for (std::uint32_t i = 0; i < call.output_count; ++i) c.outputs.push_back(box_of(call.outputs[i]));
    for (std::uint32_t i = 0; i < call.input_count; ++i) c.inputs.push_back(box_of(call.inputs[i]));
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(c));
  }
  /// Those since the last time.
  std::vector<Call> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Call> calls_;
};

/// f32: each row of the input sorted.
inline int sort_rows(const calotype_extern_call* call) {
  const calotype_buffer &in = call->inputs[0], &out = call->outputs[0];
  for (std::int64_t y = out.dims[1].min; y < out.dims[1].min + out.dims[1].extent; ++y) {
    std::vector<float> row;
    for (std::int64_t x = 0; x < in.dims[0].extent; ++x) row.push_back(element<float>(in, {x, y}));
    std::sort(row.begin(), row.end());
    for (std::int64_t x = out.dims[0].min; x < out.dims[0].min + out.dims[0].extent; ++x)
      element<float>(out, {x, y}) = row[static_cast<std::size_t>(x)];
  }
  return 0;
}

/// s32: out(x, ...) = in(x, ...) + in(x + 1, ...) + in(x + 2, ...); notes the call where `user` is a Calls.
inline int sum_of_three(const calotype_extern_call* call) {
  if (call->user) static_cast<Calls*>(call->user)->note(*call);
  each_point(call->outputs[0], [&](std::vector<std::int64_t> at) {
    std::uint32_t sum = 0;
    const std::vector<std::int64_t> target = at;
    for (int i = 0; i < 3; ++i, ++at[0])
      sum += static_cast<std::uint32_t>(element<std::int32_t>(call->inputs[0], at));
    element<std::int32_t>(call->outputs[0], target) = static_cast<std::int32_t>(sum);
  });
  return 0;
}

/// s32 and f64 of s32: v * the first scalar, an s32; v + the second, an f64.
inline int scaled_and_half(const calotype_extern_call* call) {
  if (call->output_count != 2 || call->input_count != 1 || call->scalar_count != 2) return 1;
  double more = 0;
  std::memcpy(&more, &call->scalars[1].scalar, sizeof more);
  each_point(call->outputs[0], [&](const std::vector<std::int64_t>& at) {
    const std::int32_t v = element<std::int32_t>(call->inputs[0], at);
    element<std::int32_t>(call->outputs[0], at) = v * static_cast<std::int32_t>(call->scalars[0].scalar);
    element<double>(call->outputs[1], at) = v + more;
  });
  return 0;
}

/// s32 of f64, s32 and a whole row of s32: the first as an integer, plus the second, plus the row's sum.
inline int sum_of_parts(const calotype_extern_call* call) {
  if (call->output_count != 1 || call->input_count != 3 || call->scalar_count != 0) return 1;
  std::int32_t sum = 0;
  each_point(call->inputs[2],
             [&](const std::vector<std::int64_t>& at) { sum += element<std::int32_t>(call->inputs[2], at); });
  each_point(call->outputs[0], [&](const std::vector<std::int64_t>& at) {
    element<std::int32_t>(call->outputs[0], at) =
        static_cast<std::int32_t>(element<double>(call->inputs[0], at)) +
        element<std::int32_t>(call->inputs[1], at) + sum;
  });
  return 0;
}

/// The types of a call's first buffers.
struct Types {
  calotype_type output{}, input{};
};

/// Of any type and one dimension: out(x) = in(extent - 1 - x), which is read from 0 on; notes the types.
inline int reversed(const calotype_extern_call* call) {
  const calotype_buffer &in = call->inputs[0], &out = call->outputs[0];
  *static_cast<Types*>(call->user) = {out.type, in.type};
  const std::int64_t bytes = (out.type.bits + 7) / 8;
  for (std::int64_t i = 0; i < out.dims[0].extent; ++i) {
    const std::int64_t from = in.dims[0].extent - 1 - (out.dims[0].min + i);
    std::memcpy(static_cast<char*>(out.data) + i * out.dims[0].stride * bytes,
                static_cast<const char*>(in.data) + from * in.dims[0].stride * bytes,
                static_cast<std::size_t>(bytes));
  }
  return 0;
}

}  // namespace calotype::testing
