/* A GPU's service to the calls of a plan: memory, copies and launches in the order of one stream. */

#include "runtime/context.h"
#include "runtime/cuda_device.h"

enum { MAX_PARAMETERS = 512 }; /* the 4096 bytes that every architecture has for them, 8 bytes each */

static calotype_error_kind result_of(const calotype_cuda_session* session, calotype_context* context,
                                     calotype_cu_result result, const char* action) {
  return calotype_cuda_result(context, session->device->driver, result, action);
}

static calotype_error_kind session_allocate(void* state, calotype_context* context, const char* owner,
                                            int64_t bytes, void** memory) {
  const calotype_cuda_session* session = state;
  const calotype_cuda* cuda = session->device->driver;
  calotype_cu_pointer pointer = 0;
  calotype_cu_result result = session->device->has_pool
                                  ? cuda->allocate_async(&pointer, (size_t)bytes, session->stream)
                                  : cuda->allocate(&pointer, (size_t)bytes);
  *memory = (void*)(uintptr_t)pointer;
  if (result == CALOTYPE_CU_OUT_OF_MEMORY) return calotype_out_of_memory(context, owner, bytes);
  return result_of(session, context, result, "allocating device memory");
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

static calotype_error_kind session_launch(void* state, calotype_context* context, uint32_t function,
                                          const uint32_t grid[3], const uint32_t block[3],
                                          const int64_t* scalars, void* const* buffers) {
  const calotype_cuda_session* session = state;
  const calotype_cuda_kernel* kernel = &session->kernels[function];
  void* parameters[MAX_PARAMETERS];
  if (kernel->buffer_count + kernel->scalar_count > MAX_PARAMETERS) {
    return calotype_fail(context, CALOTYPE_INTERNAL, NULL, NULL, "a kernel has more than %d parameters",
                         MAX_PARAMETERS);
  }
  /* A parameter is read as many bytes as its type has: of a scalar the low part of its slot. */
  uint32_t count = 0;
  for (uint32_t i = 0; i < kernel->buffer_count; ++i) parameters[count++] = (void*)&buffers[i];
  for (uint32_t i = 0; i < kernel->scalar_count; ++i) parameters[count++] = (void*)&scalars[i];
  calotype_cu_result result =
      session->device->driver->launch(kernel->function, grid[0], grid[1], grid[2], block[0], block[1],
                                      block[2], kernel->shared_bytes, session->stream, parameters, NULL);
  return result_of(session, context, result, "launching a kernel");
}

static calotype_error_kind session_finish(void* state, calotype_context* context) {
  const calotype_cuda_session* session = state;
  return result_of(session, context, session->device->driver->stream_synchronize(session->stream),
                   "running the kernels");
}

static calotype_error_kind session_resident(void* state, calotype_context* context, uint32_t function,
                                            const uint32_t block[3], uint32_t* blocks) {
  const calotype_cuda_session* session = state;
  const calotype_cuda_kernel* kernel = &session->kernels[function];
  int each = 0;
  calotype_cu_result result = session->device->driver->occupancy(
      &each, kernel->function, (int)(block[0] * block[1] * block[2]), kernel->shared_bytes);
  if (result) return result_of(session, context, result, "asking how many blocks fit");
  *blocks = (uint32_t)(each > 0 ? each : 1) * (uint32_t)session->device->multiprocessors;
  return CALOTYPE_GOOD;
}

calotype_device calotype_cuda_serve(calotype_cuda_session* session) {
  return (calotype_device){session,          session_allocate, session_release, session_upload,
                           session_download, session_launch,   session_finish,  session_resident};
}
