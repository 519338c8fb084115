#pragma once
// The vendor's matrix products, from whichever cuBLAS is there when the program runs: no header of it is
// needed.

#include <cstddef>
#include <memory>
#include <string>

#include "calotype/type.h"
#include "codegen/cuda/device.h"

namespace calotype::bench {

/// C (M x N) = A (M x K) @ B (K x N) in NumPy's order, dense, either factor given transposed.
struct VendorProduct {
  Type type, result;
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false, b_transposed = false;
};

class Cublas {
 public:
  /// Opens the library: the one that CALOTYPE_CUBLAS names, else that of the loader, the toolkit or NVIDIA's
  /// wheels. std::runtime_error says that there is none.
  Cublas(const cuda::Device& device, calotype_cu_handle stream);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// Puts the product into the stream; sums in f32 or s32.
  void enqueue(const VendorProduct& product, const void* a, const void* b, void* c) const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;
  void* handle_ = nullptr;
  cuda::DeviceMemory workspace_;
};

}  // namespace calotype::bench
