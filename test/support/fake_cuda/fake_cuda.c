/* A driver without a GPU, to be named by CALOTYPE_LIBCUDA. Device memory is host memory, launches are written
 * down and run nothing, any function can be made to fail, and what may not be called while a stream is
 * captured ends the capture as the real one would. It has one device, of compute capability 9.0. */

#include "fake_cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = 999, CAPTURE_UNSUPPORTED = 900, CAPTURE_INVALIDATED = 901, MOST = 64, MOST_LAUNCHES = 256 };

typedef struct failure {
  const char* symbol;
  int skip, times, result;
} failure;

typedef struct owned {
  void* address;
  size_t bytes;
  unsigned type;
  int ordinal, managed, other_context, allocated;
} owned;

typedef struct stream {
  int capturing, invalid;
} stream;

static struct {
  pthread_mutex_t mutex;
  failure failures[MOST];
  int failure_count;
  struct {
    const char* symbol;
    int calls;
  } counts[MOST];
  int device[256], function[64], version;
  owned memory[MOST];
  fake_cuda_launch launches[MOST_LAUNCHES];
  int launch_count;
  fake_cuda_tensor tensor;
  int tensor_count;
  int captures; /* streams that are being captured */
} fake = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int capture_mode = CALOTYPE_CU_CAPTURE_GLOBAL;
static int primary, another; /* addresses that stand for contexts */

static void set_defaults(void) {
  memset(fake.device, 0, sizeof fake.device);
  memset(fake.function, 0, sizeof fake.function);
  fake.device[CALOTYPE_CU_WARP_SIZE] = 32;
  fake.device[CALOTYPE_CU_MULTIPROCESSORS] = 1;
  fake.device[CALOTYPE_CU_MAJOR] = 9;
  fake.device[CALOTYPE_CU_SHARED_OPTIN] = 227 * 1024;
  fake.device[CALOTYPE_CU_MEMORY_POOLS] = 1;
  fake.function[CALOTYPE_CU_FUNC_MAX_THREADS] = 1024;
  fake.function[CALOTYPE_CU_FUNC_REGISTERS] = 32;
  fake.version = 13000;
}

__attribute__((constructor)) static void start(void) { set_defaults(); }

/* Counts the call, and gives what it was told to fail with. Under the mutex. */
static int told(const char* symbol) {
  for (int i = 0; i < MOST; ++i) {
    if (fake.counts[i].symbol && strcmp(fake.counts[i].symbol, symbol) != 0) continue;
    fake.counts[i].symbol = symbol;
    ++fake.counts[i].calls;
    break;
  }
  for (int i = 0; i < fake.failure_count; ++i) {
    failure* f = &fake.failures[i];
    if (strcmp(f->symbol, symbol) != 0 && strcmp(f->symbol, "*") != 0) continue;
    if (f->skip > 0) {
      --f->skip;
    } else if (f->times != 0) {
      if (f->times > 0) --f->times;
      return f->result;
    }
  }
  return 0;
}

static int enter(const char* symbol) {
  pthread_mutex_lock(&fake.mutex);
  const int result = told(symbol);
  pthread_mutex_unlock(&fake.mutex);
  return result;
}

#define ENTER()                        \
  do {                                 \
    const int told_ = enter(__func__); \
    if (told_ != 0) return told_;      \
  } while (0)

/* What a capture that is not relaxed does not allow. */
#define ENTER_OUTSIDE_CAPTURE()                                             \
  do {                                                                      \
    ENTER();                                                                \
    if (fake.captures > 0 && capture_mode != CALOTYPE_CU_CAPTURE_RELAXED) { \
      return CAPTURE_UNSUPPORTED;                                           \
    }                                                                       \
  } while (0)

/* ---- What tests ask */

void fake_cuda_reset(void) {
  pthread_mutex_lock(&fake.mutex);
  fake.failure_count = fake.launch_count = fake.tensor_count = 0;
  memset(fake.counts, 0, sizeof fake.counts);
  for (int i = 0; i < MOST; ++i) {
    if (!fake.memory[i].allocated) fake.memory[i].address = NULL;
  }
  set_defaults();
  pthread_mutex_unlock(&fake.mutex);
}

void fake_cuda_fail(const char* symbol, int skip, int times, int result) {
  pthread_mutex_lock(&fake.mutex);
  if (fake.failure_count < MOST) fake.failures[fake.failure_count++] = (failure){symbol, skip, times, result};
  pthread_mutex_unlock(&fake.mutex);
}

int fake_cuda_calls(const char* symbol) {
  for (int i = 0; i < MOST && fake.counts[i].symbol; ++i) {
    if (strcmp(fake.counts[i].symbol, symbol) == 0) return fake.counts[i].calls;
  }
  return 0;
}

void fake_cuda_device_attribute(int attribute, int value) { fake.device[attribute] = value; }
void fake_cuda_function_attribute(int attribute, int value) { fake.function[attribute] = value; }
void fake_cuda_driver_version(int version) { fake.version = version; }

static void own(owned what) {
  pthread_mutex_lock(&fake.mutex);
  for (int i = 0; i < MOST; ++i) {
    if (fake.memory[i].address && fake.memory[i].address != what.address) continue;
    fake.memory[i] = what;
    break;
  }
  pthread_mutex_unlock(&fake.mutex);
}

void fake_cuda_own(void* address, unsigned type, int ordinal, int managed, int other_context) {
  own((owned){address, 1, type, ordinal, managed, other_context, 0});
}

int fake_cuda_allocations(void) {
  int count = 0;
  for (int i = 0; i < MOST; ++i) count += fake.memory[i].address && fake.memory[i].allocated;
  return count;
}

int fake_cuda_tensors(void) {
  pthread_mutex_lock(&fake.mutex);
  const int count = fake.tensor_count;
  pthread_mutex_unlock(&fake.mutex);
  return count;
}

fake_cuda_tensor fake_cuda_last_tensor(void) {
  pthread_mutex_lock(&fake.mutex);
  const fake_cuda_tensor last = fake.tensor;
  pthread_mutex_unlock(&fake.mutex);
  return last;
}

int fake_cuda_launches(void) { return fake.launch_count; }
fake_cuda_launch fake_cuda_launch_at(int position) { return fake.launches[position]; }

/* ---- The driver */

calotype_cu_result cuInit(unsigned flags) {
  (void)flags;
  ENTER();
  return 0;
}

calotype_cu_result cuDriverGetVersion(int* version) {
  ENTER();
  *version = fake.version;
  return 0;
}

static const struct {
  int result;
  const char *name, *text;
} errors[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"}};

calotype_cu_result cuGetErrorName(calotype_cu_result error, const char** text) {
  *text = "CUDA_ERROR_UNKNOWN";
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
    if (errors[i].result == error) *text = errors[i].name;
  }
  return 0;
}

calotype_cu_result cuGetErrorString(calotype_cu_result error, const char** text) {
  *text = "unknown error";
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
    if (errors[i].result == error) *text = errors[i].text;
  }
  return 0;
}

calotype_cu_result cuDeviceGetCount(int* count) {
  ENTER();
  *count = 1;
  return 0;
}

calotype_cu_result cuDeviceGet(calotype_cu_device* device, int ordinal) {
  ENTER();
  *device = ordinal;
  return 0;
}

calotype_cu_result cuDeviceGetName(char* name, int length, calotype_cu_device device) {
  (void)device;
  ENTER();
  snprintf(name, (size_t)length, "No GPU");
  return 0;
}

calotype_cu_result cuDeviceGetAttribute(int* value, int attribute, calotype_cu_device device) {
  (void)device;
  ENTER();
  *value = fake.device[attribute];
  return 0;
}

calotype_cu_result cuDeviceTotalMem_v2(size_t* bytes, calotype_cu_device device) {
  (void)device;
  ENTER();
  *bytes = (size_t)1 << 30;
  return 0;
}

calotype_cu_result cuDeviceGetDefaultMemPool(calotype_cu_handle* pool, calotype_cu_device device) {
  (void)device;
  ENTER();
  *pool = &primary;
  return 0;
}

calotype_cu_result cuMemPoolSetAttribute(calotype_cu_handle pool, int attribute, void* value) {
  (void)pool;
  (void)attribute;
  (void)value;
  ENTER();
  return 0;
}

calotype_cu_result cuDevicePrimaryCtxRetain(calotype_cu_handle* context, calotype_cu_device device) {
  (void)device;
  ENTER();
  *context = &primary;
  return 0;
}

calotype_cu_result cuDevicePrimaryCtxRelease_v2(calotype_cu_device device) {
  (void)device;
  ENTER();
  return 0;
}

calotype_cu_result cuCtxPushCurrent_v2(calotype_cu_handle context) {
  (void)context;
  ENTER();
  return 0;
}

calotype_cu_result cuCtxPopCurrent_v2(calotype_cu_handle* context) {
  ENTER();
  *context = &primary;
  return 0;
}

/* ---- Streams and graphs */

static int capturing(calotype_cu_handle s) { return s && ((stream*)s)->capturing; }

calotype_cu_result cuStreamCreate(calotype_cu_handle* made, unsigned flags) {
  (void)flags;
  ENTER();
  *made = calloc(1, sizeof(stream));
  return 0;
}

calotype_cu_result cuStreamDestroy_v2(calotype_cu_handle s) {
  ENTER();
  free(s);
  return 0;
}

calotype_cu_result cuStreamSynchronize(calotype_cu_handle s) {
  ENTER();
  if (capturing(s)) {
    ((stream*)s)->invalid = 1;
    return CAPTURE_UNSUPPORTED;
  }
  return 0;
}

calotype_cu_result cuThreadExchangeStreamCaptureMode(int* mode) {
  ENTER();
  const int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return 0;
}

calotype_cu_result cuStreamBeginCapture_v2(calotype_cu_handle s, int mode) {
  (void)mode;
  ENTER();
  ((stream*)s)->capturing = 1;
  ++fake.captures;
  return 0;
}

calotype_cu_result cuStreamEndCapture(calotype_cu_handle s, calotype_cu_handle* graph) {
  ENTER();
  stream* ended = s;
  const int invalid = ended->invalid;
  ended->capturing = ended->invalid = 0;
  --fake.captures;
  *graph = invalid ? NULL : &primary;
  return invalid ? CAPTURE_INVALIDATED : 0;
}

/* ---- Memory */

static calotype_cu_result allocate(calotype_cu_pointer* memory, size_t bytes) {
  void* got = NULL;
  if (posix_memalign(&got, 256, bytes ? bytes : 1) != 0) return CALOTYPE_CU_OUT_OF_MEMORY;
  own((owned){got, bytes, CALOTYPE_CU_MEMORY_DEVICE, 0, 0, 0, 1});
  *memory = (uintptr_t)got;
  return 0;
}

static calotype_cu_result release(calotype_cu_pointer memory) {
  pthread_mutex_lock(&fake.mutex);
  int known = 0;
  for (int i = 0; i < MOST; ++i) {
    if (!fake.memory[i].allocated || (uintptr_t)fake.memory[i].address != memory) continue;
    fake.memory[i] = (owned){0};
    known = 1;
  }
  pthread_mutex_unlock(&fake.mutex);
  if (!known) return CALOTYPE_CU_INVALID_VALUE;
  free((void*)(uintptr_t)memory);
  return 0;
}

calotype_cu_result cuMemAlloc_v2(calotype_cu_pointer* memory, size_t bytes) {
  ENTER_OUTSIDE_CAPTURE();
  return allocate(memory, bytes);
}

calotype_cu_result cuMemFree_v2(calotype_cu_pointer memory) {
  ENTER_OUTSIDE_CAPTURE();
  return release(memory);
}

calotype_cu_result cuMemAllocAsync(calotype_cu_pointer* memory, size_t bytes, calotype_cu_handle s) {
  (void)s;
  ENTER();
  return allocate(memory, bytes);
}

calotype_cu_result cuMemFreeAsync(calotype_cu_pointer memory, calotype_cu_handle s) {
  (void)s;
  ENTER();
  return release(memory);
}

calotype_cu_result cuMemcpyHtoDAsync_v2(calotype_cu_pointer to, const void* from, size_t bytes,
                                        calotype_cu_handle s) {
  (void)s;
  ENTER();
  memcpy((void*)(uintptr_t)to, from, bytes);
  return 0;
}

calotype_cu_result cuMemcpyDtoHAsync_v2(void* to, calotype_cu_pointer from, size_t bytes,
                                        calotype_cu_handle s) {
  (void)s;
  ENTER();
  memcpy(to, (const void*)(uintptr_t)from, bytes);
  return 0;
}

/* The allocation that an address lies in, or that it is. */
static const owned* find(calotype_cu_pointer pointer) {
  for (int i = 0; i < MOST; ++i) {
    const uintptr_t start = (uintptr_t)fake.memory[i].address;
    if (start && pointer >= start && pointer - start < fake.memory[i].bytes) return &fake.memory[i];
  }
  return NULL;
}

calotype_cu_result cuPointerGetAttributes(unsigned count, int* attributes, void** values,
                                          calotype_cu_pointer pointer) {
  ENTER();
  pthread_mutex_lock(&fake.mutex);
  static const owned nothing;
  const owned* known = find(pointer);
  if (!known) known = &nothing;
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case CALOTYPE_CU_POINTER_MEMORY_TYPE:
        *(unsigned*)values[i] = known->type;
        break;
      case CALOTYPE_CU_POINTER_IS_MANAGED:
        *(unsigned*)values[i] = (unsigned)known->managed;
        break;
      case CALOTYPE_CU_POINTER_ORDINAL:
        *(int*)values[i] = known->ordinal;
        break;
      case CALOTYPE_CU_POINTER_CONTEXT:
        *(void**)values[i] = known->other_context ? &another : known->address ? &primary : NULL;
        break;
      case CALOTYPE_CU_POINTER_DEVICE_POINTER:
        *(calotype_cu_pointer*)values[i] = known->address ? pointer : 0;
        break;
      default:
        break;
    }
  }
  pthread_mutex_unlock(&fake.mutex);
  return 0;
}

/* ---- Code */

/* A function is its name, a module the list of those that have been asked for. */
typedef struct function_name {
  struct function_name* next;
  char text[];
} function_name;

calotype_cu_result cuModuleLoadData(calotype_cu_handle* module, const void* image) {
  (void)image;
  ENTER_OUTSIDE_CAPTURE();
  *module = calloc(1, sizeof(function_name*));
  return 0;
}

calotype_cu_result cuModuleUnload(calotype_cu_handle module) {
  ENTER();
  for (function_name *name = *(function_name**)module, *next; name; name = next) {
    next = name->next;
    free(name);
  }
  free(module);
  return 0;
}

calotype_cu_result cuModuleGetFunction(calotype_cu_handle* function, calotype_cu_handle module,
                                       const char* name) {
  ENTER();
  function_name* own = malloc(sizeof *own + strlen(name) + 1);
  strcpy(own->text, name);
  pthread_mutex_lock(&fake.mutex);
  own->next = *(function_name**)module;
  *(function_name**)module = own;
  pthread_mutex_unlock(&fake.mutex);
  *function = own->text;
  return 0;
}

calotype_cu_result cuFuncGetAttribute(int* value, int attribute, calotype_cu_handle function) {
  (void)function;
  ENTER();
  *value = fake.function[attribute];
  return 0;
}

calotype_cu_result cuFuncSetAttribute(calotype_cu_handle function, int attribute, int value) {
  (void)function;
  ENTER();
  fake.function[attribute] = value;
  return 0;
}

calotype_cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, calotype_cu_handle function,
                                                               int threads, size_t shared_bytes) {
  (void)function;
  (void)shared_bytes;
  ENTER();
  *blocks = 2048 / threads;
  return 0;
}

calotype_cu_result cuLaunchKernelEx(const calotype_cu_launch* launch, calotype_cu_handle function,
                                    void** parameters, void** extra) {
  (void)extra;
  ENTER();
  pthread_mutex_lock(&fake.mutex);
  fake_cuda_launch* l = &fake.launches[fake.launch_count % MOST_LAUNCHES];
  ++fake.launch_count;
  snprintf(l->kernel, sizeof l->kernel, "%s", (const char*)function);
  memcpy(l->grid, launch->grid, sizeof l->grid);
  memcpy(l->block, launch->block, sizeof l->block);
  l->shared_bytes = launch->shared_bytes;
  l->stream = launch->stream;
  for (int i = 0; i < 2; ++i) l->buffers[i] = *(void**)parameters[i];
  l->captured = capturing(launch->stream);
  l->early = 0;
  for (unsigned i = 0; i < launch->attribute_count; ++i)
    l->early |= launch->attributes[i].id == CALOTYPE_CU_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION &&
                launch->attributes[i].value.allowed;
  pthread_mutex_unlock(&fake.mutex);
  return 0;
}

calotype_cu_result cuLaunchKernel(calotype_cu_handle function, unsigned grid_x, unsigned grid_y,
                                  unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                                  unsigned shared_bytes, calotype_cu_handle s, void** parameters,
                                  void** extra) {
  const calotype_cu_launch launch = {.grid = {grid_x, grid_y, grid_z},
                                     .block = {block_x, block_y, block_z},
                                     .shared_bytes = shared_bytes,
                                     .stream = s};
  ENTER();
  return cuLaunchKernelEx(&launch, function, parameters, extra);
}

calotype_cu_result cuTensorMapEncodeTiled(calotype_cu_tensor_map* map, int type, uint32_t rank, void* address,
                                          const uint64_t* extents, const uint64_t* strides,
                                          const uint32_t* box, const uint32_t* element_strides,
                                          int interleave, int swizzle, int promotion, int fill) {
  ENTER();
  if ((uintptr_t)map % 64 != 0 || rank < 1 || rank > 5) return CALOTYPE_CU_INVALID_VALUE;
  pthread_mutex_lock(&fake.mutex);
  fake.tensor = (fake_cuda_tensor){.type = type,
                                   .interleave = interleave,
                                   .swizzle = swizzle,
                                   .promotion = promotion,
                                   .fill = fill,
                                   .rank = rank,
                                   .address = address};
  memcpy(fake.tensor.extents, extents, rank * sizeof *extents);
  memcpy(fake.tensor.strides, strides, (rank - 1) * sizeof *strides);
  memcpy(fake.tensor.box, box, rank * sizeof *box);
  memcpy(fake.tensor.element_strides, element_strides, rank * sizeof *element_strides);
  ++fake.tensor_count;
  memset(map, fake.tensor_count, sizeof *map);
  pthread_mutex_unlock(&fake.mutex);
  return 0;
}
