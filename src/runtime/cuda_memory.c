/* What memory an argument of a call is, by the driver: a kernel that is given the wrong kind faults, and with
 * the fault the process loses the GPU. */

#include <stdio.h>

#include "runtime/context.h"
#include "runtime/cuda_device.h"

/* What the driver knows of an address; all zero: nothing, as of memory that malloc gave. */
typedef struct memory {
  unsigned type;    /* CUmemorytype */
  unsigned managed; /* moves between host and device by itself */
  int ordinal;
  calotype_cu_handle context;      /* that it was allocated in; null where it belongs to none alone */
  calotype_cu_pointer from_device; /* under which address kernels reach it */
} memory;

static calotype_cu_result look_at(const calotype_cuda* cuda, const void* data, memory* found) {
  int attributes[] = {CALOTYPE_CU_POINTER_MEMORY_TYPE, CALOTYPE_CU_POINTER_IS_MANAGED,
                      CALOTYPE_CU_POINTER_ORDINAL, CALOTYPE_CU_POINTER_CONTEXT,
                      CALOTYPE_CU_POINTER_DEVICE_POINTER};
  *found = (memory){0};
  void* values[] = {&found->type, &found->managed, &found->ordinal, &found->context, &found->from_device};
  return cuda->pointer_attributes(sizeof attributes / sizeof *attributes, attributes, values,
                                  (uintptr_t)data);
}

static calotype_error_kind refuse_gpu(calotype_context* context, const calotype_cuda_device* device,
                                      const char* name, int ordinal) {
  char value[32], legal[64];
  snprintf(value, sizeof value, "GPU %d", ordinal);
  snprintf(legal, sizeof legal, "memory of GPU %d", device->ordinal);
  return calotype_refuse(context, name, value, legal,
                         "the buffer is in the memory of %s, and the kernel runs on GPU %d", value,
                         device->ordinal);
}

static calotype_error_kind check_device_memory(calotype_context* context, const calotype_cuda_device* device,
                                               const char* name, const calotype_buffer* buffer,
                                               const memory* found) {
  if (found->managed) return CALOTYPE_GOOD;
  if (found->type == CALOTYPE_CU_MEMORY_DEVICE) {
    if (found->ordinal != device->ordinal) return refuse_gpu(context, device, name, found->ordinal);
    if (found->context && found->context != device->context) {
      return calotype_refuse(context, name, "memory of another context",
                             "memory of the GPU's primary context, as cudaMalloc gives it",
                             "the buffer's memory belongs to another context of the GPU than the kernel");
    }
    return CALOTYPE_GOOD;
  }
  /* Pinned memory of the host is reached under its own address, or not by this buffer. */
  if (found->type == CALOTYPE_CU_MEMORY_HOST && found->from_device == (uintptr_t)buffer->data)
    return CALOTYPE_GOOD;
  return calotype_refuse(context, name, "host memory",
                         "memory of the GPU, or a buffer that says that it is the host's and is copied",
                         "the buffer is said to be in the memory of GPU %d, but its address is the host's",
                         device->ordinal);
}

calotype_error_kind calotype_cuda_check_memory(calotype_context* context, const calotype_cuda_device* device,
                                               const char* name, const calotype_buffer* buffer) {
  memory found;
  if (buffer->device != 0 && buffer->device != 1 + device->ordinal)
    return refuse_gpu(context, device, name, buffer->device - 1);
  calotype_error_kind kind =
      calotype_cuda_result_of(context, device->driver, look_at(device->driver, buffer->data, &found), name,
                              "asking whose the argument's memory is");
  if (kind) return kind;
  if (buffer->device != 0) return check_device_memory(context, device, name, buffer, &found);
  if (found.type != CALOTYPE_CU_MEMORY_DEVICE || found.managed) return CALOTYPE_GOOD;
  char value[32];
  snprintf(value, sizeof value, "GPU %d", found.ordinal);
  return calotype_refuse(context, name, value,
                         "host memory, or a buffer that says where it is, as Buffer::on_gpu",
                         "the buffer is said to be in host memory, but its address is of %s", value);
}
