/* Clusters: their size is part of the kernel's code; what the driver must be asked is here. */

#include "runtime/cuda_cluster.h"

#include <stdio.h>
#include <string.h>

#include "runtime/context.h"

enum { PORTABLE_BLOCKS = 8 };

static calotype_error_kind prepare(calotype_context* context, const calotype_cuda_device* device,
                                   calotype_cu_handle function, const char* name, uint32_t blocks,
                                   uint32_t threads, uint32_t shared_bytes, uint32_t* blocks_at_once) {
  const calotype_cuda* cuda = device->driver;
  calotype_cu_launch_attribute cluster;
  calotype_cu_launch launch;
  char value[16];
  int fit = 0;
  calotype_error_kind kind = CALOTYPE_GOOD;
  if (blocks > PORTABLE_BLOCKS)
    kind = calotype_cuda_result_of(context, cuda,
                                   cuda->function_set(function, CALOTYPE_CU_FUNC_NON_PORTABLE_CLUSTER, 1),
                                   name, "asking for a cluster of more than 8 blocks");
  if (kind) return kind;
  memset(&cluster, 0, sizeof cluster);
  cluster.id = CALOTYPE_CU_LAUNCH_CLUSTER_DIMENSION;
  cluster.value.dimension[0] = blocks;
  cluster.value.dimension[1] = cluster.value.dimension[2] = 1;
  memset(&launch, 0, sizeof launch);
  launch.grid[0] = blocks;
  launch.grid[1] = launch.grid[2] = 1;
  launch.block[0] = threads;
  launch.block[1] = launch.block[2] = 1;
  launch.shared_bytes = shared_bytes;
  launch.attributes = &cluster;
  launch.attribute_count = 1;
  kind = calotype_cuda_result_of(context, cuda, cuda->clusters_that_fit(&fit, function, &launch), name,
                                 "asking whether a cluster fits");
  *blocks_at_once = fit > 0 ? (uint32_t)fit * blocks : 0;
  if (kind || fit > 0) return kind;
  snprintf(value, sizeof value, "%u", blocks);
  return calotype_fail_legal(
      context, CALOTYPE_NO_TARGET, name, value, "a smaller cluster, fewer threads, or less shared memory",
      "a cluster of %u blocks of %u threads and %u bytes of dynamic shared memory does not fit on %s", blocks,
      threads, shared_bytes, device->name);
}

calotype_error_kind calotype_cuda_kernel_cluster(calotype_context* context,
                                                 const calotype_cuda_device* device,
                                                 calotype_cu_handle function, const char* name,
                                                 uint32_t blocks, uint32_t threads, uint32_t shared_bytes,
                                                 uint32_t* blocks_at_once) {
  calotype_error_kind kind = calotype_cuda_enter(context, device);
  if (kind) return kind;
  const int mode = calotype_cuda_leave_capture(device);
  kind = prepare(context, device, function, name, blocks, threads, shared_bytes, blocks_at_once);
  calotype_cuda_return_to_capture(device, mode);
  calotype_cuda_leave(device);
  return kind;
}
