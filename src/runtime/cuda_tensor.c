/* Encodes tensor maps. */

#include "runtime/cuda_tensor.h"

#include <stdio.h>
#include <string.h>

#include "runtime/context.h"

enum { LEAST_STRIDE = 16 };

static int type_of(uint32_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return CALOTYPE_CU_TENSOR_UINT8;
    case 2:
      return CALOTYPE_CU_TENSOR_UINT16;
    case 4:
      return CALOTYPE_CU_TENSOR_UINT32;
    default:
      return CALOTYPE_CU_TENSOR_UINT64;
  }
}

static int swizzle_of(uint32_t bytes) {
  switch (bytes) {
    case 32:
      return CALOTYPE_CU_TENSOR_SWIZZLE_32;
    case 64:
      return CALOTYPE_CU_TENSOR_SWIZZLE_64;
    case 128:
      return CALOTYPE_CU_TENSOR_SWIZZLE_128;
    default:
      return CALOTYPE_CU_TENSOR_SWIZZLE_NONE;
  }
}

static calotype_error_kind encode(calotype_context* context, const calotype_cuda* cuda, const char* kernel,
                                  const calotype_tensor* tensor, calotype_cu_tensor_map* map) {
  const calotype_plan_tensor* t = tensor->plan;
  uint64_t extents[CALOTYPE_TENSOR_RANK], strides[CALOTYPE_TENSOR_RANK] = {0};
  uint32_t ones[CALOTYPE_TENSOR_RANK];
  if (!cuda->encode_tensor) {
    return calotype_fail_legal(
        context, CALOTYPE_NO_TARGET, t->name, "no cuTensorMapEncodeTiled",
        "a driver of CUDA 12 or later; or a schedule with copy(bulk) or copy(async)",
        "the NVIDIA driver has no cuTensorMapEncodeTiled, by which kernel '%.64s' copies "
        "boxes of '%.64s'",
        kernel, t->name);
  }
  for (int32_t d = 0; d < t->rank; ++d) {
    ones[d] = 1;
    extents[d] = (uint64_t)tensor->extents[d];
    if (d == 0) continue;
    /* One element may have any stride, but not to the driver. */
    strides[d - 1] = tensor->strides[d] > 0 ? (uint64_t)tensor->strides[d] : LEAST_STRIDE;
  }
  /* Larger pieces of the second-level cache than are asked for would cost bandwidth where rows of boxes, or
   * pitches, are no multiples of theirs. */
  const calotype_cu_result result =
      cuda->encode_tensor(map, type_of(t->element_bytes), (uint32_t)t->rank, tensor->data, extents, strides,
                          t->box, ones, CALOTYPE_CU_TENSOR_INTERLEAVE_NONE, swizzle_of(t->swizzle),
                          CALOTYPE_CU_TENSOR_L2_NONE, CALOTYPE_CU_TENSOR_FILL_ZEROS);
  char action[200];
  snprintf(action, sizeof action, "making the tensor map of '%.64s' for kernel '%.64s'", t->name, kernel);
  return calotype_cuda_result_of(context, cuda, result, t->name, action);
}

static int same(const calotype_tensor* a, const calotype_tensor* b) {
  return a->plan == b->plan && a->data == b->data && memcmp(a->extents, b->extents, sizeof a->extents) == 0 &&
         memcmp(a->strides, b->strides, sizeof a->strides) == 0;
}

static int has_elements(const calotype_tensor* tensor) {
  for (int32_t d = 0; d < tensor->plan->rank; ++d) {
    if (tensor->extents[d] == 0) return 0;
  }
  return tensor->data != NULL;
}

calotype_error_kind calotype_cuda_tensor_map(calotype_context* context, const calotype_cuda* cuda,
                                             const char* kernel, const calotype_tensor* tensor,
                                             calotype_cuda_encoded* encoded, calotype_cu_tensor_map* map) {
  if (!has_elements(tensor)) { /* no box is copied of it, and there is no map of such a one */
    memset(map, 0, sizeof *map);
    return CALOTYPE_GOOD;
  }
  /* Who finds another thread there does without: encoding takes less time than waiting may. */
  const int mine = !__atomic_exchange_n(&encoded->busy, 1, __ATOMIC_ACQUIRE);
  calotype_error_kind kind = CALOTYPE_GOOD;
  if (mine && same(&encoded->of, tensor)) {
    *map = encoded->map;
  } else {
    kind = encode(context, cuda, kernel, tensor, map);
    if (mine && !kind) {
      encoded->of = *tensor;
      encoded->map = *map;
    }
  }
  if (mine) __atomic_store_n(&encoded->busy, 0, __ATOMIC_RELEASE);
  return kind;
}
