#pragma once
/* What tests ask of the driver in fake_cuda.c beside its own functions: found in the library that
 * CALOTYPE_LIBCUDA names. All of it is for one thread that prepares and looks, while any number call the
 * driver. */

#include "runtime/cuda_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A launch as it was asked for. `buffers` are the first two parameters, read as pointers. */
typedef struct fake_cuda_launch {
  char kernel[64];
  uint32_t grid[3], block[3], shared_bytes;
  calotype_cu_handle stream;
  void* buffers[2];
  int captured; /* into a graph */
  int early;    /* it may come onto the GPU as the one before leaves it */
} fake_cuda_launch;

/* A tensor map as it was asked for. */
typedef struct fake_cuda_tensor {
  int type, interleave, swizzle, promotion, fill;
  uint32_t rank;
  void* address;
  uint64_t extents[5], strides[4];
  uint32_t box[5], element_strides[5];
} fake_cuda_tensor;

/* FUNCTION(name, result, parameters) */
#define FAKE_CUDA_FUNCTIONS(FUNCTION)                                                                        \
  /* As it was at first: nothing fails, nothing was called. */                                               \
  FUNCTION(fake_cuda_reset, void, (void))                                                                    \
  /* Calls of `symbol` give `result`, `times` of them after `skip`; -1: all. */                              \
  FUNCTION(fake_cuda_fail, void, (const char* symbol, int skip, int times, int result))                      \
  /* How often `symbol` was called. */                                                                       \
  FUNCTION(fake_cuda_calls, int, (const char* symbol))                                                       \
  /* The value of an attribute of the device, or of every function. */                                       \
  FUNCTION(fake_cuda_device_attribute, void, (int attribute, int value))                                     \
  FUNCTION(fake_cuda_function_attribute, void, (int attribute, int value))                                   \
  FUNCTION(fake_cuda_driver_version, void, (int version))                                                    \
  /* An address of the caller's that the driver takes for memory of this kind. */                            \
  FUNCTION(fake_cuda_own, void, (void* address, unsigned type, int ordinal, int managed, int other_context)) \
  /* Allocations that were not given back. */                                                                \
  FUNCTION(fake_cuda_allocations, int, (void))                                                               \
  /* Launches since the reset, and the one at a position. */                                                 \
  FUNCTION(fake_cuda_launches, int, (void))                                                                  \
  FUNCTION(fake_cuda_launch_at, fake_cuda_launch, (int position))                                            \
  /* Tensor maps since the reset, and the last one. */                                                       \
  FUNCTION(fake_cuda_tensors, int, (void))                                                                   \
  FUNCTION(fake_cuda_last_tensor, fake_cuda_tensor, (void))

#define FAKE_CUDA_DECLARE(name, result, parameters) result name parameters;
FAKE_CUDA_FUNCTIONS(FAKE_CUDA_DECLARE)
#undef FAKE_CUDA_DECLARE

#ifdef __cplusplus
}
#endif
