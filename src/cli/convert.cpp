// Walking and converting buffers element by element.
#include "cli/convert.h"

#include <algorithm>
#include <cmath>

namespace calotype::cli {
namespace {

// Calls f with a pointer of the element's C++ type.
template <class F>
auto with_elements(Type type, void* data, F f) {
  switch (type.code) {
    case TypeCode::Int:
      if (type.bits == 8) return f(static_cast<std::int8_t*>(data));
      if (type.bits == 16) return f(static_cast<std::int16_t*>(data));
      if (type.bits == 32) return f(static_cast<std::int32_t*>(data));
      return f(static_cast<std::int64_t*>(data));
    case TypeCode::UInt:
      if (type.bits <= 8) return f(static_cast<std::uint8_t*>(data));
      if (type.bits == 16) return f(static_cast<std::uint16_t*>(data));
      if (type.bits == 32) return f(static_cast<std::uint32_t*>(data));
      return f(static_cast<std::uint64_t*>(data));
    case TypeCode::Float:
      if (type.bits == 16) return f(static_cast<float16_t*>(data));
      if (type.bits == 32) return f(static_cast<float*>(data));
      return f(static_cast<double*>(data));
    case TypeCode::E4M3:
      return f(static_cast<float8_e4m3_t*>(data));
    case TypeCode::E5M2:
      return f(static_cast<float8_e5m2_t*>(data));
    case TypeCode::BFloat:
      break;
  }
  return f(static_cast<bfloat16_t*>(data));
}

double clamp_to(Type type, double value) {
  if (std::isnan(value)) return 0;
  const double low = type.is_bool() ? 0 : static_cast<double>(type.min_int());
  const double high = type.is_bool() ? 1 : static_cast<double>(type.max_int());
  return std::clamp(std::nearbyint(value), low, high);
}

}  // namespace

double element(const Buffer& dense, std::int64_t i) {
  return with_elements(dense.type(), dense.data(), [i](auto* p) { return static_cast<double>(p[i]); });
}

void set_element(const Buffer& dense, std::int64_t i, double value) {
  const Type type = dense.type();
  // The largest 64-bit integers are no doubles: casting their nearest double back would overflow.
  if (type.is_integral()) {
    value = clamp_to(type, value);
    if (value >= 9223372036854775807.0) {
      static_cast<std::int64_t*>(dense.data())[i] = INT64_MAX;
      return;
    }
  }
  with_elements(type, dense.data(), [&](auto* p) {
    using T = std::remove_reference_t<decltype(*p)>;
    if constexpr (std::is_class_v<T>)  // a narrow float
      p[i] = T(static_cast<float>(value));
    else
      p[i] = static_cast<T>(value);
  });
}

std::vector<std::int64_t> coordinates_of(const Buffer& dense, std::int64_t i) {
  std::vector<std::int64_t> at(dense.rank());
  for (int d = 0; d < dense.rank(); ++d) {
    at[d] = dense.min(d) + i % dense.extent(d);
    i /= dense.extent(d);
  }
  return at;
}

Buffer dense(const Buffer& buffer) {
  std::int64_t stride = 1;
  for (int d = 0; d < buffer.rank(); ++d) {
    if (buffer.stride(d) != stride && buffer.extent(d) > 1) return buffer.copy();
    stride *= buffer.extent(d);
  }
  return buffer;
}

void for_each_coordinate(const Buffer& buffer,
                         const std::function<void(const std::vector<std::int64_t>&)>& f) {
  if (buffer.elements() == 0) return;
  std::vector<std::int64_t> at(buffer.rank());
  for (int d = 0; d < buffer.rank(); ++d) at[d] = buffer.min(d);
  for (;;) {
    f(at);
    int d = 0;
    while (d < buffer.rank() && ++at[d] == buffer.min(d) + buffer.extent(d)) {
      at[d] = buffer.min(d);
      ++d;
    }
    if (d == buffer.rank()) return;
  }
}

Buffer convert(const Buffer& buffer, Type type, double scale) {
  const Buffer from = dense(buffer);
  std::vector<std::int64_t> extents(buffer.rank());
  for (int d = 0; d < buffer.rank(); ++d) extents[d] = buffer.extent(d);
  Buffer to(type, extents);
  for (std::int64_t i = 0; i < from.elements(); ++i) set_element(to, i, element(from, i) * scale);
  return to;
}

}  // namespace calotype::cli
