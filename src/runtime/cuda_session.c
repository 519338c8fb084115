/* A GPU's service to the calls of a plan: memory, copies and launches in the order of one stream. */

#include <stdio.h>

#include "runtime/context.h"
#include "runtime/cuda_device.h"

enum {
  MAX_PARAMETERS = 512, /* the 4096 bytes that every architecture has for them, 8 bytes each */
  WORDS_OF_TENSOR = sizeof(calotype_cu_tensor_map) / 8 /* which lie at multiples of that */
};

static calotype_error_kind result_of(const calotype_cuda_session* session, calotype_context* context,
                                     calotype_cu_result result, const char* action) {
  return calotype_cuda_result(context, session->device->driver, result, action);
}

static calotype_error_kind session_allocate(void* state, calotype_context* context, const char* owner,
                                            int64_t bytes, void** memory) {
  const calotype_cuda_session* session = state;
  const calotype_cuda* cuda = session->device->driver;
  if (session->goes_on && !session->device->has_pool) {
    return calotype_fail_legal(
        context, CALOTYPE_NO_TARGET, owner, session->device->name,
        "the call without a stream, or a schedule that stores nothing in global memory",
        "its storage would have to be allocated in the order of the stream, which %s cannot",
        session->device->name);
  }
  const size_t whole = calotype_cuda_allocation((size_t)bytes);
  calotype_cu_pointer pointer = 0;
  calotype_cu_result result = session->device->has_pool
                                  ? cuda->allocate_async(&pointer, whole, session->stream)
                                  : cuda->allocate(&pointer, whole);
  *memory = (void*)(uintptr_t)pointer;
  if (result == CALOTYPE_CU_OUT_OF_MEMORY) return calotype_out_of_memory(context, owner, bytes);
  return calotype_cuda_result_of(context, cuda, result, owner, "allocating device memory");
}

static void session_release(void* state, void* memory) {
  const calotype_cuda_session* session = state;
  const calotype_cuda* cuda = session->device->driver;
  calotype_cu_pointer pointer = (uintptr_t)memory;
  if (session->device->has_pool) {
    cuda->release_async(pointer, session->stream);
  } else {
    cuda->release(pointer);
  }
}

static calotype_error_kind session_upload(void* state, calotype_context* context, void* to, const void* from,
                                          int64_t bytes) {
  const calotype_cuda_session* session = state;
  calotype_cu_result result =
      session->device->driver->upload((uintptr_t)to, from, (size_t)bytes, session->stream);
  return result_of(session, context, result, "copying to the device");
}

static calotype_error_kind session_download(void* state, calotype_context* context, void* to,
                                            const void* from, int64_t bytes) {
  const calotype_cuda_session* session = state;
  calotype_cu_result result =
      session->device->driver->download(to, (uintptr_t)from, (size_t)bytes, session->stream);
  return result_of(session, context, result, "copying from the device");
}

/* What stood in the way of a launch, as far as the kernel's own figures tell. */
static calotype_error_kind launch_failed(const calotype_cuda_session* session, calotype_context* context,
                                         const calotype_cuda_kernel* kernel, const uint32_t block[3],
                                         calotype_cu_result result) {
  const calotype_cuda* cuda = session->device->driver;
  const long long threads = (long long)block[0] * block[1] * block[2];
  int most = 0, registers = 0;
  char action[160], value[32], legal[64];
  if (result == CALOTYPE_CU_OUT_OF_RESOURCES &&
      cuda->function_attribute(&most, CALOTYPE_CU_FUNC_MAX_THREADS, kernel->function) == 0 &&
      cuda->function_attribute(&registers, CALOTYPE_CU_FUNC_REGISTERS, kernel->function) == 0) {
    snprintf(value, sizeof value, "%lld threads", threads);
    snprintf(legal, sizeof legal, "at most %d threads a block", most);
    return calotype_fail_legal(
        context, CALOTYPE_NO_TARGET, kernel->name, value, legal,
        "launching kernel '%.64s': a block of %s with %d registers each and %u bytes of "
        "dynamic shared memory is more than %s has for one",
        kernel->name, value, registers, kernel->shared_bytes, session->device->name);
  }
  snprintf(action, sizeof action, "launching kernel '%.64s'%s", kernel->name,
           result == CALOTYPE_CU_INVALID_HANDLE && session->goes_on
               ? " in a stream that may not be one of the GPU's primary context"
               : "");
  return calotype_cuda_result_of(context, cuda, result, kernel->name, action);
}

static calotype_error_kind session_launch(void* state, calotype_context* context, uint32_t function,
                                          const uint32_t grid[3], const uint32_t block[3],
                                          const int64_t* scalars, void* const* buffers,
                                          const calotype_tensor* tensors) {
  calotype_cuda_session* session = state;
  const calotype_cuda_kernel* kernel = &session->kernels[function];
  void* parameters[MAX_PARAMETERS];
  calotype_cu_tensor_map maps[CALOTYPE_MOST_TENSORS];
  if (kernel->buffer_count + kernel->scalar_count + WORDS_OF_TENSOR * kernel->tensor_count > MAX_PARAMETERS) {
    return calotype_fail(context, CALOTYPE_INTERNAL, kernel->name, NULL,
                         "a kernel has more than %d parameters", MAX_PARAMETERS);
  }
  /* A parameter is read as many bytes as its type has: of a scalar the low part of its slot. */
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->buffer_count; ++i) parameters[count++] = (void*)&buffers[i];
  for (uint32_t i = 0; i < kernel->tensor_count; ++i) {
    calotype_error_kind kind = calotype_cuda_tensor_map(context, session->device->driver, kernel->name,
                                                        &tensors[i], &kernel->tensors[i], &maps[i]);
    if (kind) return kind;
    parameters[count++] = &maps[i];
  }
  for (uint32_t i = 0; i < kernel->scalar_count; ++i) parameters[count++] = (void*)&scalars[i];
  calotype_cu_launch_attribute early = {.id = CALOTYPE_CU_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION,
                                        .value.allowed = 1};
  const calotype_cu_launch launch = {
      .grid = {grid[0], grid[1], grid[2]},
      .block = {block[0], block[1], block[2]},
      .shared_bytes = kernel->shared_bytes,
      .stream = session->stream,
      .attributes = &early,
      .attribute_count = session->device->launches_early && kernel->begins_early ? 1 : 0};
  const calotype_cu_result result =
      session->device->driver->launch_with(&launch, kernel->function, parameters, NULL);
  if (result != 0) return launch_failed(session, context, kernel, block, result);
  if (!session->first) session->first = kernel->name;
  session->last = kernel->name;
  return CALOTYPE_GOOD;
}

static calotype_error_kind session_finish(void* state, calotype_context* context) {
  const calotype_cuda_session* session = state;
  const calotype_cu_result result = session->device->driver->stream_synchronize(session->stream);
  if (result == 0) return CALOTYPE_GOOD;
  char action[200] = "running the call";
  if (session->first == session->last && session->first)
    snprintf(action, sizeof action, "running kernel '%.64s'", session->first);
  else if (session->first)
    snprintf(action, sizeof action, "running the kernels '%.64s' to '%.64s'", session->first, session->last);
  return calotype_cuda_result_of(context, session->device->driver, result, session->first, action);
}

enum { SETS = 32, WAYS = 4 };

static uint64_t mixed(uint64_t address) { return address * 0x9e3779b97f4a7c15u >> 32; }

static int was_seen(calotype_cuda_seen* seen, uint64_t address) {
  uint64_t* set = seen->addresses[mixed(address) % SETS];
  int found = 0;
  for (int i = 0; i < WAYS; ++i) found |= __atomic_load_n(&set[i], __ATOMIC_RELAXED) == address;
  return found;
}

static void keep_seen(calotype_cuda_seen* seen, uint64_t address) {
  uint64_t* set = seen->addresses[mixed(address) % SETS];
  int at = (int)(mixed(address) / SETS % WAYS); /* unless there is room */
  for (int i = 0; i < WAYS; ++i) {
    if (__atomic_load_n(&set[i], __ATOMIC_RELAXED) == 0) at = i;
  }
  __atomic_store_n(&set[at], address, __ATOMIC_RELAXED);
}

void calotype_cuda_forget(calotype_cuda_seen* seen, const void* memory, size_t bytes) {
  const uint64_t start = (uintptr_t)memory;
  for (int i = 0; i < SETS * WAYS; ++i) {
    uint64_t* place = &seen->addresses[i / WAYS][i % WAYS];
    const uint64_t address = __atomic_load_n(place, __ATOMIC_RELAXED);
    if (address >= start && address - start < bytes) __atomic_store_n(place, 0, __ATOMIC_RELAXED);
  }
}

static calotype_error_kind session_check_memory(void* state, calotype_context* context, const char* name,
                                                const calotype_buffer* buffer) {
  const calotype_cuda_session* session = state;
  const uint64_t address = (uintptr_t)buffer->data;
  if (buffer->device == 0 && session->goes_on) {
    return calotype_refuse(context, name, "host memory",
                           "memory of the GPU, as DeviceBuffer::device(), or the call without a stream",
                           "the buffer is in host memory, which a call on a stream would have to wait for");
  }
  const int on_device = buffer->device == 1 + session->device->ordinal;
  if (on_device && session->seen && was_seen(session->seen, address)) return CALOTYPE_GOOD;
  calotype_error_kind kind = calotype_cuda_check_memory(context, session->device, name, buffer);
  if (!kind && on_device && session->seen) keep_seen(session->seen, address);
  return kind;
}

/* The driver is asked once for a kernel and a number of threads: the question takes as long as a launch. */
static calotype_error_kind session_resident(void* state, calotype_context* context, uint32_t function,
                                            const uint32_t block[3], uint32_t* blocks) {
  const calotype_cuda_session* session = state;
  calotype_cuda_kernel* kernel = &session->kernels[function];
  const uint32_t threads = block[0] * block[1] * block[2];
  if (kernel->clustered > 0) {
    *blocks = kernel->clustered;
    return CALOTYPE_GOOD;
  }
  uint64_t known = __atomic_load_n(&kernel->resident, __ATOMIC_RELAXED);
  if (known >> 32 != threads) {
    int each = 0;
    calotype_cu_result result =
        session->device->driver->occupancy(&each, kernel->function, (int)threads, kernel->shared_bytes);
    if (result) {
      return calotype_cuda_result_of(context, session->device->driver, result, kernel->name,
                                     "asking how many blocks fit");
    }
    known = (uint64_t)threads << 32 | (uint32_t)(each > 0 ? each : 1);
    __atomic_store_n(&kernel->resident, known, __ATOMIC_RELAXED);
  }
  *blocks = (uint32_t)known * (uint32_t)session->device->multiprocessors;
  return CALOTYPE_GOOD;
}

calotype_device calotype_cuda_serve(calotype_cuda_session* session) {
  return (calotype_device){session,        session_allocate,     session_release,
                           session_upload, session_download,     session_launch,
                           session_finish, session_check_memory, session_resident};
}
