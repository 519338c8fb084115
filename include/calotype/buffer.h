#pragma once
// Buffer: typed memory with a box and strides, owned or the caller's.

#include <memory>
#include <string>
#include <vector>

#include "calotype/runtime.h"
#include "calotype/type.h"

namespace calotype {

/// A dense or strided n-dimensional array; dimension 0 is innermost in the default layout. Copies share the
/// memory. Strides are in elements and may be of any sign. The memory is the host's, or a GPU's: then the
/// elements cannot be reached from here, and what would do so throws Error(Usage). DeviceBuffer
/// (device_buffer.h) has both and copies between them.
class Buffer {
 public:
  Buffer() = default;
  /// Owned memory, uninitialised, dense with dimension 0 innermost, 64-byte aligned.
  Buffer(Type type, std::vector<std::int64_t> extents);
  /// The caller's memory; `data` is the element at the smallest coordinates. Strides in elements; empty:
  /// dense.
  Buffer(Type type, void* data, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides = {});
  /// The same for memory that lives as long as `owner`, of which each copy of the Buffer holds a share.
  Buffer(Type type, void* data, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides,
         std::shared_ptr<void> owner);
  template <class T>
  Buffer(T* data, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides = {})
      : Buffer(type_of<T>(), static_cast<void*>(data), std::move(extents), std::move(strides)) {}

  /// The caller's memory on GPU number `gpu`, from cuMemAlloc, cudaMalloc or a library that uses them (or
  /// host memory that the GPU reaches under the same address). `owner` as above; null: the caller keeps it.
  static Buffer on_gpu(Type type, void* data, std::vector<std::int64_t> extents,
                       std::vector<std::int64_t> strides = {}, std::shared_ptr<void> owner = nullptr,
                       int gpu = 0);

  bool defined() const { return raw_.data != nullptr || raw_.rank > 0; }
  Type type() const;
  int rank() const { return raw_.rank; }
  std::int64_t min(int d) const { return raw_.dims[d].min; }
  std::int64_t extent(int d) const { return raw_.dims[d].extent; }
  std::int64_t stride(int d) const { return raw_.dims[d].stride; }
  std::int64_t elements() const;
  void* data() const { return raw_.data; }
  /// The GPU whose memory it is; -1: the host's.
  int gpu() const { return raw_.device - 1; }

  /// The part [min, min + extent) of one dimension, sharing the memory; coordinates keep their values.
  /// Throws Error(Usage) if it is not inside.
  Buffer crop(int dimension, std::int64_t min, std::int64_t extent) const;
  /// The same memory with the smallest coordinate of each dimension renamed.
  Buffer translate(std::vector<std::int64_t> mins) const;
  /// The same memory with dimensions in another order: result dimension i is dimension order[i].
  Buffer transpose(std::vector<int> order) const;
  /// The part at one coordinate of a dimension, without that dimension. Throws Error(Usage) if it is not
  /// inside.
  Buffer slice(int dimension, std::int64_t at) const;
  /// The same memory with one more dimension before `dimension`, of the one coordinate `at`: the inverse of
  /// `slice`. Throws Error(Usage) beyond the rank or the largest rank.
  Buffer embed(int dimension, std::int64_t at = 0) const;
  /// A dense copy, of host memory.
  Buffer copy() const;
  /// Every element as by `set_value`.
  void fill(double value);

  /// The element at the coordinates. T must be the element type; Error(Usage) otherwise or outside.
  template <class T>
  T& at(std::vector<std::int64_t> coordinates) const {
    return *static_cast<T*>(address(type_of<T>(), coordinates));
  }
  /// The element as a double, whatever its type (64-bit integers may round).
  double value(const std::vector<std::int64_t>& coordinates) const;
  /// Store a double converted to the element type: rounded to nearest even; integers saturate, NaN gives 0;
  /// 8-bit floats saturate.
  void set_value(const std::vector<std::int64_t>& coordinates, double value) const;

  const calotype_buffer& raw() const { return raw_; }

 private:
  void* address(Type type, const std::vector<std::int64_t>& coordinates) const;
  void require_host(const char* what) const;
  std::shared_ptr<void> owner_;
  calotype_buffer raw_{};
};

}  // namespace calotype
