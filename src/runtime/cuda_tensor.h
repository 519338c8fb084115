#pragma once
/* Tensor maps: what the unit that copies boxes is told of memory. The driver encodes them, in their own
 * format, and a launch takes a copy. */

#include "runtime/cuda_driver.h"
#include "runtime/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The map of a kernel's tensor as it was encoded last. All zeros: it was not. */
typedef struct calotype_cuda_encoded {
  calotype_cu_tensor_map map;
  calotype_tensor of;
  int busy; /* atomic accesses only: a thread reads or writes the rest */
} calotype_cuda_encoded;

/* The map of the tensor: the encoded one if the memory, extents and strides are the same, else a new one,
 * which is kept there. Several threads may ask with one `encoded`. `kernel` is for the error. */
calotype_error_kind calotype_cuda_tensor_map(calotype_context* context, const calotype_cuda* cuda,
                                             const char* kernel, const calotype_tensor* tensor,
                                             calotype_cuda_encoded* encoded, calotype_cu_tensor_map* map);

#ifdef __cplusplus
}
#endif
