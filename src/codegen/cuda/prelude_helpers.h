#pragma once
// What a kernel's text may begin with: helpers, each there if it is used.

#include <string>
#include <string_view>
#include <vector>

namespace calotype::cuda {

struct Helper {
  std::string_view name;
  std::vector<std::string> needs;
  std::string_view text;  ///< @ stands for "static __device__ __forceinline__"
};

/// Copies that nobody carries, the memory of a cluster's blocks, and what tells that something has come.
const std::vector<Helper>& copy_helpers();
/// What stands around instructions of tiles.
const std::vector<Helper>& tile_helpers();

}  // namespace calotype::cuda
