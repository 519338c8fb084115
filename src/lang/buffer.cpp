// Buffer: typed memory with a box and strides.

#include "calotype/buffer.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>

#include "calotype/error.h"
#include "ir/runtime_type.h"
#include "ir/value.h"

namespace calotype {

namespace {

constexpr std::align_val_t kAlignment{64};

[[noreturn]] void usage(std::string message, std::string value, std::string legal) {
  Diagnostic d;
  d.kind = ErrorKind::Usage;
  d.message = std::move(message);
  d.value = std::move(value);
  d.legal = std::move(legal);
  throw Error(std::move(d));
}

TypeCode type_code(std::uint8_t raw) {
  switch (raw) {
    case CALOTYPE_UINT:
      return TypeCode::UInt;
    case CALOTYPE_FLOAT:
      return TypeCode::Float;
    case CALOTYPE_BFLOAT:
      return TypeCode::BFloat;
    case CALOTYPE_E4M3:
      return TypeCode::E4M3;
    case CALOTYPE_E5M2:
      return TypeCode::E5M2;
    default:
      return TypeCode::Int;
  }
}

std::string text(const std::vector<std::int64_t>& numbers) {
  return fmt::format("({})", fmt::join(numbers, ", "));
}

/// The descriptor without memory; strides empty: dense. Refuses what no memory could hold.
calotype_buffer describe(Type type, const std::vector<std::int64_t>& extents,
                         const std::vector<std::int64_t>& strides) {
  if (!type.is_scalar()) usage("a Buffer of vectors", type.str(), "a scalar element type");
  if (extents.size() > CALOTYPE_MAX_RANK) {
    usage("a Buffer of too many dimensions", std::to_string(extents.size()),
          fmt::format("at most {}", static_cast<int>(CALOTYPE_MAX_RANK)));
  }
  if (!strides.empty() && strides.size() != extents.size()) {
    usage("a Buffer whose strides are not as many as its extents", text(strides),
          fmt::format("{} strides, or none for a dense Buffer", extents.size()));
  }
  calotype_buffer raw{};
  raw.type = ir::runtime_type(type);
  raw.rank = static_cast<std::int32_t>(extents.size());
  std::int64_t dense = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] < 0)
      usage(fmt::format("extent {} of a Buffer is negative", d), text(extents), "0 or more");
    raw.dims[d] = {0, extents[d], strides.empty() ? dense : strides[d]};
    if (__builtin_mul_overflow(dense, std::max<std::int64_t>(extents[d], 1), &dense) ||
        dense > (INT64_MAX >> 4)) {
      usage("a Buffer of more elements than memory can have", text(extents), "fewer elements");
    }
  }
  return raw;
}

/// Calls `f` with the element offset of every element and its position in the order of the coordinates.
void for_each_offset(const calotype_buffer& raw, const std::function<void(std::int64_t, std::int64_t)>& f) {
  std::int64_t count = 1;
  for (int d = 0; d < raw.rank; ++d) count *= raw.dims[d].extent;
  std::int64_t at[CALOTYPE_MAX_RANK] = {}, offset = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    f(offset, i);
    for (int d = 0; d < raw.rank; ++d) {
      offset += raw.dims[d].stride;
      if (++at[d] < raw.dims[d].extent) break;
      offset -= raw.dims[d].stride * raw.dims[d].extent;
      at[d] = 0;
    }
  }
}

template <class T>
double load(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return static_cast<double>(value);
}

template <class T>
void store(void* address, T value) {
  std::memcpy(address, &value, sizeof(T));
}

double load_as_double(Type type, const void* address) {
  switch (type.bits) {
    case 1:
      return load<std::uint8_t>(address) != 0 ? 1 : 0;
    case 8:
      if (type.is_float8()) return ir::float8_value(type, *static_cast<const std::uint8_t*>(address));
      return type.is_int() ? load<std::int8_t>(address) : load<std::uint8_t>(address);
    case 16:
      if (type.code == TypeCode::BFloat) return load<bfloat16_t>(address);
      if (type.is_float()) return load<float16_t>(address);
      return type.is_int() ? load<std::int16_t>(address) : load<std::uint16_t>(address);
    case 32:
      if (type.is_float()) return load<float>(address);
      return type.is_int() ? load<std::int32_t>(address) : load<std::uint32_t>(address);
    default:
      if (type.is_float()) return load<double>(address);
      return type.is_int() ? load<std::int64_t>(address) : load<std::uint64_t>(address);
  }
}

/// Stores a value that the type can represent.
void store_value(const ir::Value& value, void* address) {
  const Type type = value.type;
  if (type.is_float()) {
    if (type.bits == 64) return store(address, value.f);
    if (type.is_float8()) return store(address, ir::float8_bits(type, value.f));
    const auto narrow = static_cast<float>(value.f);
    if (type.bits == 32) return store(address, narrow);
    return store(address,
                 type.code == TypeCode::BFloat ? float_to_bfloat_bits(narrow) : float_to_half_bits(narrow));
  }
  switch (type.bits) {
    case 1:
    case 8:
      return store(address, static_cast<std::uint8_t>(value.i));
    case 16:
      return store(address, static_cast<std::uint16_t>(value.i));
    case 32:
      return store(address, static_cast<std::uint32_t>(value.i));
    default:
      return store(address, value.i);
  }
}

/// To floats rounded to nearest even; to integers rounded to nearest even and saturated, NaN to 0.
ir::Value element(Type type, double value) {
  if (type.is_float()) return ir::convert(type, ir::Value::of_float(Float(64), value));
  if (type.is_bool()) return ir::Value::of_int(type, value != 0);
  return ir::convert(type, ir::Value::of_float(Float(64), std::nearbyint(value)));
}

std::byte* bytes_at(const calotype_buffer& raw, std::int64_t offset, int element_bytes) {
  return static_cast<std::byte*>(raw.data) + offset * element_bytes;
}

void require_dimension(int rank, int dimension) {
  if (dimension >= 0 && dimension < rank) return;
  usage("a Buffer has no such dimension", std::to_string(dimension),
        fmt::format("a dimension below {}", rank));
}

}  // namespace

namespace {

/// Asks for pages of 2 MB where memory is large and the system gives them on demand: an access far from the
/// one before it, as down a column, then seldom waits for page tables. A refusal changes nothing.
void advise_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
  constexpr std::size_t kLarge = std::size_t{4} << 20, kPage = 4096;
  if (bytes < kLarge) return;
  const auto start = (reinterpret_cast<std::uintptr_t>(memory) + kPage - 1) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
  madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);
#endif
}

}  // namespace

Buffer::Buffer(Type type, std::vector<std::int64_t> extents) : raw_(describe(type, extents, {})) {
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(elements(), 1)) * type.bytes();
  owner_ = std::shared_ptr<void>(::operator new(bytes, kAlignment),
                                 [](void* p) { ::operator delete(p, kAlignment); });
  raw_.data = owner_.get();
  advise_large_pages(raw_.data, bytes);
}

Buffer::Buffer(Type type, void* data, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides)
    : Buffer(type, data, std::move(extents), std::move(strides), nullptr) {}

Buffer::Buffer(Type type, void* data, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides,
               std::shared_ptr<void> owner)
    : owner_(std::move(owner)), raw_(describe(type, extents, strides)) {
  raw_.data = data;
}

Buffer Buffer::on_gpu(Type type, void* data, std::vector<std::int64_t> extents,
                      std::vector<std::int64_t> strides, std::shared_ptr<void> owner, int gpu) {
  if (gpu < 0) usage("a Buffer on a GPU of negative number", std::to_string(gpu), "0 or more");
  Buffer result(type, data, std::move(extents), std::move(strides), std::move(owner));
  result.raw_.device = 1 + gpu;
  return result;
}

void Buffer::require_host(const char* what) const {
  if (raw_.device == 0) return;
  usage(fmt::format("{} a Buffer whose memory is on a GPU", what), fmt::format("GPU {}", gpu()),
        "a Buffer in host memory, as DeviceBuffer::host() after copy_to_host()");
}

Type Buffer::type() const { return {type_code(raw_.type.code), raw_.type.bits, 1}; }

std::int64_t Buffer::elements() const {
  std::int64_t count = 1;
  for (int d = 0; d < raw_.rank; ++d) count *= raw_.dims[d].extent;
  return count;
}

Buffer Buffer::crop(int dimension, std::int64_t min, std::int64_t extent) const {
  require_dimension(raw_.rank, dimension);
  const calotype_dim& dim = raw_.dims[dimension];
  const bool inside =
      extent >= 0 && min >= dim.min && min <= dim.min + dim.extent && extent <= dim.min + dim.extent - min;
  if (!inside) {
    usage(fmt::format("a crop of dimension {} reaches outside the Buffer", dimension),
          fmt::format("[{}, {})", min, min + extent),
          fmt::format("within [{}, {})", dim.min, dim.min + dim.extent));
  }
  Buffer result = *this;
  if (raw_.data != nullptr) result.raw_.data = bytes_at(raw_, (min - dim.min) * dim.stride, type().bytes());
  result.raw_.dims[dimension].min = min;
  result.raw_.dims[dimension].extent = extent;
  return result;
}

Buffer Buffer::translate(std::vector<std::int64_t> mins) const {
  if (static_cast<int>(mins.size()) != raw_.rank) {
    usage("a Buffer is translated by another number of coordinates than it has", text(mins),
          fmt::format("{} coordinates", raw_.rank));
  }
  Buffer result = *this;
  for (int d = 0; d < raw_.rank; ++d) result.raw_.dims[d].min = mins[d];
  return result;
}

Buffer Buffer::transpose(std::vector<int> order) const {
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool permutation = static_cast<int>(order.size()) == raw_.rank;
  for (std::size_t d = 0; d < sorted.size(); ++d)
    permutation = permutation && sorted[d] == static_cast<int>(d);
  if (!permutation) {
    usage("a Buffer is transposed by no permutation of its dimensions",
          fmt::format("({})", fmt::join(order, ", ")), fmt::format("each of 0 to {} once", raw_.rank - 1));
  }
  Buffer result = *this;
  for (int d = 0; d < raw_.rank; ++d) result.raw_.dims[d] = raw_.dims[order[d]];
  return result;
}

Buffer Buffer::slice(int dimension, std::int64_t at) const {
  Buffer result = crop(dimension, at, 1);
  std::copy(result.raw_.dims + dimension + 1, result.raw_.dims + raw_.rank, result.raw_.dims + dimension);
  --result.raw_.rank;
  result.raw_.dims[result.raw_.rank] = {};
  return result;
}

Buffer Buffer::embed(int dimension, std::int64_t at) const {
  if (raw_.rank == CALOTYPE_MAX_RANK)
    usage("a Buffer of the largest rank is embedded", std::to_string(raw_.rank),
          fmt::format("a rank below {}", static_cast<int>(CALOTYPE_MAX_RANK)));
  if (dimension < 0 || dimension > raw_.rank)
    usage("a Buffer is embedded at a dimension beyond its rank", std::to_string(dimension),
          fmt::format("0 to {}", raw_.rank));
  Buffer result = *this;
  std::copy_backward(raw_.dims + dimension, raw_.dims + raw_.rank, result.raw_.dims + raw_.rank + 1);
  // One coordinate has no next one; the stride that a dense layout would have keeps such buffers dense.
  const calotype_dim before = dimension > 0 ? raw_.dims[dimension - 1] : calotype_dim{0, 1, 1};
  result.raw_.dims[dimension] = {at, 1, before.extent * before.stride};
  ++result.raw_.rank;
  return result;
}

Buffer Buffer::copy() const {
  require_host("a copy of");
  std::vector<std::int64_t> extents, mins;
  for (int d = 0; d < raw_.rank; ++d) {
    extents.push_back(raw_.dims[d].extent);
    mins.push_back(raw_.dims[d].min);
  }
  Buffer result = Buffer(type(), extents).translate(mins);
  const int size = type().bytes();
  for_each_offset(raw_, [&](std::int64_t offset, std::int64_t i) {
    std::memcpy(bytes_at(result.raw_, i, size), bytes_at(raw_, offset, size), size);
  });
  return result;
}

void Buffer::fill(double value) {
  require_host("a filling of");
  const ir::Value filling = element(type(), value);
  const int size = type().bytes();
  for_each_offset(
      raw_, [&](std::int64_t offset, std::int64_t) { store_value(filling, bytes_at(raw_, offset, size)); });
}

void* Buffer::address(Type asked, const std::vector<std::int64_t>& coordinates) const {
  require_host("an element of");
  if (asked != type()) usage("an element of a Buffer is accessed as another type", asked.str(), type().str());
  bool inside = static_cast<int>(coordinates.size()) == raw_.rank;
  std::int64_t offset = 0;
  for (int d = 0; inside && d < raw_.rank; ++d) {
    const std::int64_t from_min = coordinates[d] - raw_.dims[d].min;
    inside = from_min >= 0 && from_min < raw_.dims[d].extent;
    offset += from_min * raw_.dims[d].stride;
  }
  if (!inside) {
    std::vector<std::string> box;
    for (int d = 0; d < raw_.rank; ++d) {
      box.push_back(fmt::format("[{}, {})", raw_.dims[d].min, raw_.dims[d].min + raw_.dims[d].extent));
    }
    usage("coordinates outside a Buffer", text(coordinates), fmt::format("within {}", fmt::join(box, " x ")));
  }
  return bytes_at(raw_, offset, type().bytes());
}

double Buffer::value(const std::vector<std::int64_t>& coordinates) const {
  return load_as_double(type(), address(type(), coordinates));
}

void Buffer::set_value(const std::vector<std::int64_t>& coordinates, double value) const {
  void* const place = address(type(), coordinates);
  store_value(element(type(), value), place);
}

}  // namespace calotype
