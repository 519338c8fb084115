// Where the evaluator keeps values.

#include "lang/storage.h"

#include <algorithm>
#include <cmath>

#include "ir/value.h"

namespace calotype::lang {

namespace {

struct Half {
  static double get(std::uint16_t bits) { return half_bits_to_float(bits); }
  static std::uint16_t put(double value) { return float_to_half_bits(static_cast<float>(value)); }
};
struct Brain {
  static double get(std::uint16_t bits) { return bfloat_bits_to_float(bits); }
  static std::uint16_t put(double value) { return float_to_bfloat_bits(static_cast<float>(value)); }
};
struct Float8 {
  Type type;
  double get(std::uint8_t bits) const { return ir::float8_value(type, bits); }
  std::uint8_t put(double value) const { return ir::float8_bits(type, value); }
};
template <class T>
struct Plain {
  static auto get(T value) {
    return static_cast<std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>>(value);
  }
  template <class V>
  static T put(V value) {
    return static_cast<T>(value);
  }
};

/// Calls f(element, conversion) with a null pointer to the element type in memory and its conversion.
template <class F>
void with_element(Type type, F f) {
  const bool is_signed = type.is_int();
  if (type.code == TypeCode::BFloat) return f(static_cast<std::uint16_t*>(nullptr), Brain{});
  if (type.is_float8()) return f(static_cast<std::uint8_t*>(nullptr), Float8{type});
  if (type.is_float()) {
    if (type.bits == 16) return f(static_cast<std::uint16_t*>(nullptr), Half{});
    if (type.bits == 32) return f(static_cast<float*>(nullptr), Plain<float>{});
    return f(static_cast<double*>(nullptr), Plain<double>{});
  }
  switch (type.bits) {
    case 16:
      return is_signed ? f(static_cast<std::int16_t*>(nullptr), Plain<std::int16_t>{})
                       : f(static_cast<std::uint16_t*>(nullptr), Plain<std::uint16_t>{});
    case 32:
      return is_signed ? f(static_cast<std::int32_t*>(nullptr), Plain<std::int32_t>{})
                       : f(static_cast<std::uint32_t*>(nullptr), Plain<std::uint32_t>{});
    case 64:
      return f(static_cast<std::int64_t*>(nullptr), Plain<std::int64_t>{});
    default:
      return is_signed ? f(static_cast<std::int8_t*>(nullptr), Plain<std::int8_t>{})
                       : f(static_cast<std::uint8_t*>(nullptr), Plain<std::uint8_t>{});
  }
}

template <class V>
V* values_of(Lanes& lanes) {
  if constexpr (std::is_same_v<V, double>) {
    return lanes.f;
  } else {
    return lanes.i;
  }
}

}  // namespace

Storage Storage::of_input(const std::string& name, const Buffer& buffer) {
  Storage storage;
  storage.is_input = true;
  storage.name = name;
  storage.values = buffer;
  return storage;
}

Storage Storage::of_func(const std::string& name, Type type, const Region& region, bool with_error,
                         bool sums) {
  Storage storage;
  storage.name = name;
  std::vector<std::int64_t> extents, mins;
  for (const Range& r : region.dims) {
    extents.push_back(r.extent());
    mins.push_back(r.min);
  }
  storage.values = Buffer(type, extents).translate(mins);
  storage.with_error = with_error;
  const auto count = static_cast<std::size_t>(region.elements());
  if (with_error) {
    storage.exact.resize(count);
    storage.bound.resize(count);
    if (sums) storage.magnitude.resize(count);
  }
  return storage;
}

bool Storage::locate(const std::vector<const Lanes*>& coordinates, int n, std::int64_t* offsets,
                     std::uint8_t* inside) const {
  std::fill_n(offsets, n, 0);
  std::fill_n(inside, n, values.elements() > 0 ? 1 : 0);
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    const std::int64_t* at = coordinates[d]->i;
    const auto min = static_cast<std::uint64_t>(values.min(static_cast<int>(d)));
    const auto extent = static_cast<std::uint64_t>(values.extent(static_cast<int>(d)));
    const auto stride = static_cast<std::uint64_t>(values.stride(static_cast<int>(d)));
    for (int l = 0; l < n; ++l) {
      const std::uint64_t from_min = static_cast<std::uint64_t>(at[l]) - min;
      inside[l] &= from_min < extent ? 1 : 0;
      offsets[l] = static_cast<std::int64_t>(static_cast<std::uint64_t>(offsets[l]) + from_min * stride);
    }
  }
  bool all = true;
  for (int l = 0; l < n; ++l) all = all && inside[l] != 0;
  if (all) return true;
  for (int l = 0; l < n; ++l) offsets[l] = inside[l] != 0 ? offsets[l] : 0;
  return false;
}

bool Storage::locate_steps(const std::vector<const Lanes*>& coordinates, int n, std::int64_t* offsets,
                           std::uint8_t* inside) const {
  std::int64_t first = 0, step = 0;
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    const int dim = static_cast<int>(d);
    const std::int64_t begin = coordinates[d]->i[0], end = coordinates[d]->i[n - 1];
    const std::int64_t low = values.min(dim), high = low + values.extent(dim) - 1;
    if (begin < low || begin > high || end < low || end > high)
      return locate(coordinates, n, offsets, inside);
    first += (begin - low) * values.stride(dim);
    if (n > 1) step += (coordinates[d]->i[1] - begin) * values.stride(dim);
  }
  for (int l = 0; l < n; ++l) offsets[l] = first + l * step;
  std::fill_n(inside, n, 1);
  return values.elements() > 0;
}

void Storage::load(const std::int64_t* offsets, const std::uint8_t* inside, int n, bool error,
                   Lanes& out) const {
  if (values.elements() == 0) {
    std::fill_n(out.i, n, 0);
    std::fill_n(out.exact, n, 0.0);
    std::fill_n(out.bound, n, 0.0);
    return;
  }
  with_element(values.type(), [&](auto* element, auto conversion) {
    using T = std::remove_pointer_t<decltype(element)>;
    using V = decltype(conversion.get(T{}));
    const T* data = static_cast<const T*>(values.data());
    V* to = values_of<V>(out);
    for (int l = 0; l < n; ++l) to[l] = conversion.get(data[offsets[l]]);
    if (inside == nullptr) return;
    for (int l = 0; l < n; ++l) to[l] = inside[l] != 0 ? to[l] : V{0};
  });
  if (!error) return;
  if (with_error) {
    for (int l = 0; l < n; ++l) out.exact[l] = exact[offsets[l]];
    for (int l = 0; l < n; ++l) out.bound[l] = bound[offsets[l]];
  } else if (values.type().is_float()) {
    std::copy_n(out.f, n, out.exact);
    std::fill_n(out.bound, n, 0.0);
  }
}

void Storage::store(const std::int64_t* offsets, const std::uint8_t* active, int n, const Lanes& in) {
  with_element(values.type(), [&](auto* element, auto conversion) {
    using T = std::remove_pointer_t<decltype(element)>;
    using V = decltype(conversion.get(T{}));
    T* data = static_cast<T*>(values.data());
    const V* from = values_of<V>(const_cast<Lanes&>(in));
    for (int l = 0; l < n; ++l) {
      if (active[l] != 0) data[offsets[l]] = conversion.put(from[l]);
    }
  });
  if (!with_error) return;
  for (int l = 0; l < n; ++l) {
    if (active[l] == 0) continue;
    exact[offsets[l]] = in.exact[l];
    bound[offsets[l]] = in.bound[l];
  }
}

}  // namespace calotype::lang
