// The list of all directives, in the order of the reference page: one line each. (An explicit table: static
// registration in a static library would be dropped by the linker.)
#include "schedule/directive.h"

#define DIRECTIVES(X)   \
  X(compute_inline)     \
  X(compute_root)       \
  X(compute_at)         \
  X(compute_with)       \
  X(store_root)         \
  X(store_at)           \
  X(hoist_storage_root) \
  X(hoist_storage)      \
  X(store_in)           \
  X(reorder_storage)    \
  X(layout)             \
  X(align_storage)      \
  X(pad)                \
  X(bound_storage)      \
  X(fold_storage)       \
  X(slide)              \
  X(ring_buffer)        \
  X(swizzle)            \
  X(copy)               \
  X(memoize)            \
  X(bound)              \
  X(bound_extent)       \
  X(align_bounds)       \
  X(align_extent)       \
  X(set_estimate)       \
  X(split)              \
  X(fuse)               \
  X(tile)               \
  X(reorder)            \
  X(rename)             \
  X(serial)             \
  X(unroll)             \
  X(vectorize)          \
  X(parallel)           \
  X(gpu_blocks)         \
  X(persistent)         \
  X(raster)             \
  X(gpu_threads)        \
  X(pipeline)           \
  X(gpu_lanes)          \
  X(gpu_warps)          \
  X(gpu_tile)           \
  X(cluster)            \
  X(multicast)          \
  X(partition)          \
  X(specialize)         \
  X(specialize_fail)    \
  X(prefetch)           \
  X(stream_stores)      \
  X(stream_loads)       \
  X(in)                 \
  X(clone_in)           \
  X(stage_out)          \
  X(eager_inline)       \
  X(rfactor)            \
  X(atomic)             \
  X(tensor_core)        \
  X(role)               \
  X(trace)              \
  X(estimate_size)      \
  X(assume)             \
  X(assume_buffer)

namespace calotype::schedule {

#define DECLARE(name) DirectiveSpec name##_spec();
DIRECTIVES(DECLARE)
#undef DECLARE

const std::vector<DirectiveSpec>& directives() {
#define CALL(name) name##_spec(),
  static const std::vector<DirectiveSpec> all = {DIRECTIVES(CALL)};
#undef CALL
  return all;
}

}  // namespace calotype::schedule
