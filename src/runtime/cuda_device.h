#pragma once
/* A GPU: what it is, its memory and streams, modules of kernels, and how it serves a plan. */

#include "runtime/cuda_driver.h"
#include "runtime/cuda_tensor.h"
#include "runtime/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct calotype_cuda_device {
  const calotype_cuda* driver;
  calotype_cu_device device;
  calotype_cu_handle context; /* the primary one */
  char name[128];
  int ordinal;
  char arch[16]; /* "sm_90a": with the features of that very architecture where it has such */
  int major, minor;
  int multiprocessors;
  int shared_bytes; /* a block may have, when asked for */
  int64_t memory_bytes;
  int has_pool;       /* stream-ordered allocation */
  int launches_early; /* kernels may come onto the GPU as the one before leaves it, in graphs too */
} calotype_cuda_device;

/* Open GPU number `ordinal`; fails with the missing piece named. */
calotype_error_kind calotype_cuda_device_open(calotype_context* context, int ordinal,
                                              calotype_cuda_device* device);
void calotype_cuda_device_close(calotype_cuda_device* device);

/* Bytes to allocate for so many: whole words, of which there is one at least. An atomic update of a narrower
 * element exchanges the word that it lies in. */
static inline size_t calotype_cuda_allocation(size_t bytes) {
  return bytes == 0 ? 4 : (bytes + 3) & ~(size_t)3;
}

/* Calls of the driver between these see the device. */
calotype_error_kind calotype_cuda_enter(calotype_context* context, const calotype_cuda_device* device);
void calotype_cuda_leave(const calotype_cuda_device* device);

/* A stream of the ordinary kind: its work begins after what the default stream was given before. */
calotype_error_kind calotype_cuda_stream_create(calotype_context* context, const calotype_cuda_device* device,
                                                calotype_cu_handle* stream);

/* A kernel of a module as a launch needs it. Parameters: `buffer_count` pointers, then `tensor_count` tensor
 * maps, then `scalar_count` scalars. */
typedef struct calotype_cuda_kernel {
  const char* name;
  calotype_cu_handle function;
  uint32_t buffer_count, tensor_count, scalar_count;
  calotype_cuda_encoded* tensors; /* one each */
  uint32_t shared_bytes;          /* dynamic */
  int begins_early;               /* its code waits for the end of the kernel before it in the stream */
  /* The answer of the driver for blocks of as many threads as the upper half says: how many of them run on a
   * multiprocessor at one time; 0: not asked yet. Atomic accesses only. */
  uint64_t resident;
  uint32_t clustered; /* blocks in all clusters that run at one time; 0: they are in none */
} calotype_cuda_kernel;

/* Loading and its like may do what a capture of this thread's streams does not allow otherwise; it is no part
 * of one. Between the two calls the thread's streams are as if none was captured. */
int calotype_cuda_leave_capture(const calotype_cuda_device* device);
void calotype_cuda_return_to_capture(const calotype_cuda_device* device, int mode);

/* `image` is a cubin, or PTX ending in a zero, made by the compiler of CUDA `toolkit` (13000 for 13.0). The
 * calling thread may be capturing a stream. */
calotype_error_kind calotype_cuda_module_load(calotype_context* context, const calotype_cuda_device* device,
                                              const void* image, int toolkit, calotype_cu_handle* module);
void calotype_cuda_module_unload(const calotype_cuda_device* device, calotype_cu_handle module);
/* Find the kernel; with more than the default 48 KB of dynamic shared memory, ask for it. */
calotype_error_kind calotype_cuda_kernel_find(calotype_context* context, const calotype_cuda_device* device,
                                              calotype_cu_handle module, const char* name,
                                              uint32_t shared_bytes, calotype_cu_handle* function);

/* Whether kernels on the device reach the buffer's memory; the error names the argument. */
calotype_error_kind calotype_cuda_check_memory(calotype_context* context, const calotype_cuda_device* device,
                                               const char* name, const calotype_buffer* buffer);

/* Addresses of device memory that were checked: a hash says in which set one stands. One that is overwritten
 * is checked again; one that stays after memory of others is gone lets a call through that may fault. */
typedef struct calotype_cuda_seen {
  uint64_t addresses[32][4]; /* atomic accesses only */
} calotype_cuda_seen;
/* The memory is given back: its addresses are new to the next call. */
void calotype_cuda_forget(calotype_cuda_seen* seen, const void* memory, size_t bytes);

/* A device's service to one call of a plan on a stream: the state of a calotype_device. */
typedef struct calotype_cuda_session {
  const calotype_cuda_device* device;
  calotype_cu_handle stream;
  calotype_cuda_kernel* kernels; /* by function of the plan */
  calotype_cuda_seen* seen;      /* may be null */
  int goes_on;                   /* the caller's stream, which is not waited for */
  const char *first, *last;      /* kernels that were launched */
} calotype_cuda_session;

/* The interface of a plan's device. The session, and the context's entry into the device, must outlive its
 * use. */
calotype_device calotype_cuda_serve(calotype_cuda_session* session);

#ifdef __cplusplus
}
#endif
