/* Devices, streams and modules. */

#include "runtime/cuda_device.h"

#include <stdio.h>
#include <string.h>

#include "runtime/context.h"

#define TRY_OF(func, call, action)                                                  \
  do {                                                                              \
    calotype_error_kind failure_ =                                                  \
        calotype_cuda_result_of(context, device->driver, (call), (func), (action)); \
    if (failure_) return failure_;                                                  \
  } while (0)
#define TRY(call, action) TRY_OF(NULL, call, action)

/* The first driver whose graphs know of kernels that begin before the one ahead of them has ended. */
enum { DRIVER_OF_EARLY_LAUNCHES = 12030 };

static calotype_error_kind read_attributes(calotype_context* context, calotype_cuda_device* device) {
  const calotype_cuda* cuda = device->driver;
  const struct {
    int attribute;
    int* value;
  } wanted[] = {{CALOTYPE_CU_MAJOR, &device->major},
                {CALOTYPE_CU_MINOR, &device->minor},
                {CALOTYPE_CU_MULTIPROCESSORS, &device->multiprocessors},
                {CALOTYPE_CU_SHARED_OPTIN, &device->shared_bytes},
                {CALOTYPE_CU_MEMORY_POOLS, &device->has_pool}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
    TRY(cuda->device_attribute(wanted[i].value, wanted[i].attribute, device->device),
        "reading a device attribute");
  }
  int version = 0;
  TRY(cuda->driver_version(&version), "reading the driver's version");
  device->launches_early = device->major >= 9 && version >= DRIVER_OF_EARLY_LAUNCHES;
  size_t bytes = 0;
  TRY(cuda->device_memory(&bytes, device->device), "reading the device's memory size");
  TRY(cuda->device_name(device->name, (int)sizeof device->name, device->device), "reading the device's name");
  device->memory_bytes = (int64_t)bytes;
  snprintf(device->arch, sizeof device->arch, "sm_%d%d%s", device->major, device->minor,
           device->major >= 9 ? "a" : "");
  return CALOTYPE_GOOD;
}

/* Memory given back to the pool stays there for the next call. */
static calotype_error_kind keep_pool(calotype_context* context, calotype_cuda_device* device) {
  calotype_cu_handle pool;
  uint64_t everything = UINT64_MAX;
  TRY(device->driver->device_pool(&pool, device->device), "finding the memory pool");
  TRY(device->driver->pool_set(pool, CALOTYPE_CU_POOL_RELEASE_THRESHOLD, &everything),
      "setting up the memory pool");
  return CALOTYPE_GOOD;
}

calotype_error_kind calotype_cuda_device_open(calotype_context* context, int ordinal,
                                              calotype_cuda_device* device) {
  memset(device, 0, sizeof *device);
  device->driver = calotype_cuda_open(context);
  if (!device->driver) return context->error.kind;
  int count = 0;
  TRY(device->driver->device_count(&count), "counting GPUs");
  if (ordinal < 0 || ordinal >= count) {
    char value[16];
    snprintf(value, sizeof value, "%d", ordinal);
    return calotype_fail(context, CALOTYPE_NO_TARGET, NULL, value, "there is no GPU %d: this machine has %d",
                         ordinal, count);
  }
  device->ordinal = ordinal;
  TRY(device->driver->device_get(&device->device, ordinal), "opening the GPU");
  calotype_error_kind kind = read_attributes(context, device);
  if (kind) return kind;
  TRY(device->driver->context_retain(&device->context, device->device), "making the GPU's context");
  kind = device->has_pool ? keep_pool(context, device) : CALOTYPE_GOOD;
  if (kind) calotype_cuda_device_close(device);
  return kind;
}

void calotype_cuda_device_close(calotype_cuda_device* device) {
  if (device->driver && device->context) device->driver->context_release(device->device);
  memset(device, 0, sizeof *device);
}

calotype_error_kind calotype_cuda_enter(calotype_context* context, const calotype_cuda_device* device) {
  TRY(device->driver->context_push(device->context), "entering the GPU's context");
  return CALOTYPE_GOOD;
}

void calotype_cuda_leave(const calotype_cuda_device* device) {
  calotype_cu_handle left;
  device->driver->context_pop(&left);
}

/* One call of the driver inside the device's context. */
#define INSIDE(call, action)                                               \
  do {                                                                     \
    calotype_error_kind entered_ = calotype_cuda_enter(context, device);   \
    if (entered_) return entered_;                                         \
    calotype_cu_result result_ = (call);                                   \
    calotype_cuda_leave(device);                                           \
    return calotype_cuda_result(context, device->driver, result_, action); \
  } while (0)

calotype_error_kind calotype_cuda_stream_create(calotype_context* context, const calotype_cuda_device* device,
                                                calotype_cu_handle* stream) {
  INSIDE(device->driver->stream_create(stream, 0), "making a stream");
}

int calotype_cuda_leave_capture(const calotype_cuda_device* device) {
  int mode = CALOTYPE_CU_CAPTURE_RELAXED;
  return device->driver->capture_mode(&mode) == 0 ? mode : CALOTYPE_CU_CAPTURE_GLOBAL;
}

void calotype_cuda_return_to_capture(const calotype_cuda_device* device, int mode) {
  device->driver->capture_mode(&mode);
}

static calotype_error_kind loaded(calotype_context* context, const calotype_cuda_device* device,
                                  calotype_cu_result result, int toolkit) {
  const int unknown_code = result == CALOTYPE_CU_INVALID_IMAGE || result == CALOTYPE_CU_NO_BINARY ||
                           result == CALOTYPE_CU_INVALID_PTX || result == CALOTYPE_CU_UNSUPPORTED_PTX;
  int driver = 0;
  if (unknown_code && device->driver->driver_version(&driver) == 0 && driver < toolkit) {
    char value[32];
    snprintf(value, sizeof value, "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
    return calotype_fail_legal(
        context, CALOTYPE_NO_TARGET, NULL, value,
        "a newer driver, or CALOTYPE_NVRTC with the NVRTC of a CUDA that the driver knows",
        "loading the kernels: the driver is of %s and NVRTC of CUDA %d.%d, whose code it "
        "does not know",
        value, toolkit / 1000, toolkit % 1000 / 10);
  }
  return calotype_cuda_result(context, device->driver, result, "loading the kernels");
}

calotype_error_kind calotype_cuda_module_load(calotype_context* context, const calotype_cuda_device* device,
                                              const void* image, int toolkit, calotype_cu_handle* module) {
  calotype_error_kind kind = calotype_cuda_enter(context, device);
  if (kind) return kind;
  const int mode = calotype_cuda_leave_capture(device);
  const calotype_cu_result result = device->driver->module_load(module, image);
  calotype_cuda_return_to_capture(device, mode);
  kind = loaded(context, device, result, toolkit);
  calotype_cuda_leave(device);
  return kind;
}

void calotype_cuda_module_unload(const calotype_cuda_device* device, calotype_cu_handle module) {
  if (!module || device->driver->context_push(device->context) != 0) return;
  const int mode = calotype_cuda_leave_capture(device);
  device->driver->module_unload(module);
  calotype_cuda_return_to_capture(device, mode);
  calotype_cuda_leave(device);
}

/* Shared memory that a kernel declares and that its launch asks for, against what a block may have. */
static calotype_error_kind ask_for_shared(calotype_context* context, const calotype_cuda_device* device,
                                          const char* name, uint32_t shared_bytes,
                                          calotype_cu_handle function) {
  enum { ALWAYS_ALLOWED = 48 * 1024 };
  int declared = 0;
  if (shared_bytes == 0) return CALOTYPE_GOOD;
  TRY_OF(name, device->driver->function_attribute(&declared, CALOTYPE_CU_FUNC_SHARED, function),
         "reading shared memory");
  const int64_t total = (int64_t)shared_bytes + declared;
  if (total > device->shared_bytes) {
    char value[32], legal[48];
    snprintf(value, sizeof value, "%lld", (long long)total);
    snprintf(legal, sizeof legal, "at most %d bytes", device->shared_bytes);
    return calotype_fail_legal(context, CALOTYPE_NO_TARGET, name, value, legal,
                               "a block needs %s bytes of shared memory, and %s has %d", value, device->name,
                               device->shared_bytes);
  }
  if (total <= ALWAYS_ALLOWED) return CALOTYPE_GOOD;
  TRY_OF(name, device->driver->function_set(function, CALOTYPE_CU_FUNC_MAX_DYNAMIC_SHARED, (int)shared_bytes),
         "asking for shared memory");
  return CALOTYPE_GOOD;
}

static calotype_error_kind find_kernel(calotype_context* context, const calotype_cuda_device* device,
                                       calotype_cu_handle module, const char* name, uint32_t shared_bytes,
                                       calotype_cu_handle* function) {
  TRY_OF(name, device->driver->module_function(function, module, name), "finding a kernel in its module");
  return ask_for_shared(context, device, name, shared_bytes, *function);
}

calotype_error_kind calotype_cuda_kernel_find(calotype_context* context, const calotype_cuda_device* device,
                                              calotype_cu_handle module, const char* name,
                                              uint32_t shared_bytes, calotype_cu_handle* function) {
  calotype_error_kind kind = calotype_cuda_enter(context, device);
  if (kind) return kind;
  const int mode = calotype_cuda_leave_capture(device);
  kind = find_kernel(context, device, module, name, shared_bytes, function);
  calotype_cuda_return_to_capture(device, mode);
  calotype_cuda_leave(device);
  return kind;
}
