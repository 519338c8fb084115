#pragma once
/* Kernels whose blocks run in clusters. */

#include "runtime/cuda_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Prepares a kernel with clusters of `blocks` blocks of `threads` threads, `shared_bytes` of dynamic shared
 * memory each: asks for sizes that not every device has, and how many fit on this one: `blocks_at_once` are all
 * of theirs. An error of the context if none does. Inside the device. */
calotype_error_kind calotype_cuda_kernel_cluster(calotype_context* context,
                                                 const calotype_cuda_device* device,
                                                 calotype_cu_handle function, const char* name,
                                                 uint32_t blocks, uint32_t threads, uint32_t shared_bytes,
                                                 uint32_t* blocks_at_once);

#ifdef __cplusplus
}
#endif
