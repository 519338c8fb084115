#pragma once
/* The CUDA driver, opened when it is first asked for: libcuda is found at run time, and its few functions and
 * numbers that are used are declared here, so that nothing of CUDA is needed to build. A test holds these
 * declarations against cuda.h where one exists. */

#include "calotype/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Handles of the driver: pointers to what only it knows. */
typedef int calotype_cu_result;
typedef int calotype_cu_device;
typedef void* calotype_cu_handle;
typedef uint64_t calotype_cu_pointer;

enum { /* CUdevice_attribute */
       CALOTYPE_CU_WARP_SIZE = 10,
       CALOTYPE_CU_MULTIPROCESSORS = 16,
       CALOTYPE_CU_MAJOR = 75,
       CALOTYPE_CU_MINOR = 76,
       CALOTYPE_CU_SHARED_OPTIN = 97,
       CALOTYPE_CU_MEMORY_POOLS = 115
};
enum { /* CUfunction_attribute */
       CALOTYPE_CU_FUNC_MAX_THREADS = 0,
       CALOTYPE_CU_FUNC_SHARED = 1,
       CALOTYPE_CU_FUNC_LOCAL = 3,
       CALOTYPE_CU_FUNC_REGISTERS = 4,
       CALOTYPE_CU_FUNC_MAX_DYNAMIC_SHARED = 8,
       CALOTYPE_CU_FUNC_NON_PORTABLE_CLUSTER = 14
};
enum { /* CUpointer_attribute, CUmemorytype */
       CALOTYPE_CU_POINTER_CONTEXT = 1,
       CALOTYPE_CU_POINTER_MEMORY_TYPE = 2,
       CALOTYPE_CU_POINTER_DEVICE_POINTER = 3,
       CALOTYPE_CU_POINTER_IS_MANAGED = 8,
       CALOTYPE_CU_POINTER_ORDINAL = 9,
       CALOTYPE_CU_MEMORY_HOST = 1,
       CALOTYPE_CU_MEMORY_DEVICE = 2
};
enum { /* CUresult */
       CALOTYPE_CU_INVALID_VALUE = 1,
       CALOTYPE_CU_OUT_OF_MEMORY = 2,
       CALOTYPE_CU_INVALID_IMAGE = 200,
       CALOTYPE_CU_NO_BINARY = 209,
       CALOTYPE_CU_ECC_UNCORRECTABLE = 214,
       CALOTYPE_CU_INVALID_PTX = 218,
       CALOTYPE_CU_UNSUPPORTED_PTX = 222,
       CALOTYPE_CU_INVALID_HANDLE = 400,
       CALOTYPE_CU_ILLEGAL_ADDRESS = 700,
       CALOTYPE_CU_OUT_OF_RESOURCES = 701,
       CALOTYPE_CU_LAUNCH_TIMEOUT = 702,
       CALOTYPE_CU_ASSERT = 710,
       CALOTYPE_CU_HARDWARE_STACK = 714,
       CALOTYPE_CU_LAUNCH_FAILED = 719
};
enum { /* CUlaunchAttributeID */
       CALOTYPE_CU_LAUNCH_CLUSTER_DIMENSION = 4,
       CALOTYPE_CU_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION = 6
};

/* CUlaunchAttribute, CUlaunchConfig */
typedef struct calotype_cu_launch_attribute {
  int id;
  char unused[8 - sizeof(int)];
  union {
    char bytes[64];
    unsigned dimension[3];
    int allowed;
  } value;
} calotype_cu_launch_attribute;
typedef struct calotype_cu_launch {
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  calotype_cu_handle stream;
  calotype_cu_launch_attribute* attributes;
  unsigned attribute_count;
} calotype_cu_launch;

enum {
  CALOTYPE_CU_POOL_RELEASE_THRESHOLD = 4,
  CALOTYPE_CU_CAPTURE_GLOBAL = 0,
  CALOTYPE_CU_CAPTURE_RELAXED = 2
};

/* CUtensorMap, opaque, at addresses that every release of CUDA takes, and the numbers of its encoder. */
typedef struct calotype_cu_tensor_map {
  uint64_t words[16];
} __attribute__((aligned(128))) calotype_cu_tensor_map;
enum { /* CUtensorMapDataType */
       CALOTYPE_CU_TENSOR_UINT8 = 0,
       CALOTYPE_CU_TENSOR_UINT16 = 1,
       CALOTYPE_CU_TENSOR_UINT32 = 2,
       CALOTYPE_CU_TENSOR_UINT64 = 4
};
enum { /* CUtensorMapSwizzle */
       CALOTYPE_CU_TENSOR_SWIZZLE_NONE = 0,
       CALOTYPE_CU_TENSOR_SWIZZLE_32 = 1,
       CALOTYPE_CU_TENSOR_SWIZZLE_64 = 2,
       CALOTYPE_CU_TENSOR_SWIZZLE_128 = 3
};
enum { /* CUtensorMapInterleave, CUtensorMapL2promotion, CUtensorMapFloatOOBfill */
       CALOTYPE_CU_TENSOR_INTERLEAVE_NONE = 0,
       CALOTYPE_CU_TENSOR_L2_NONE = 0,
       CALOTYPE_CU_TENSOR_FILL_ZEROS = 0
};

/* FUNCTION(name here, symbol of the library, parameters) */
#define CALOTYPE_CUDA_FUNCTIONS(FUNCTION)                                                                    \
  FUNCTION(init, cuInit, (unsigned flags))                                                                   \
  FUNCTION(driver_version, cuDriverGetVersion, (int* version))                                               \
  FUNCTION(error_name, cuGetErrorName, (calotype_cu_result error, const char** text))                        \
  FUNCTION(error_string, cuGetErrorString, (calotype_cu_result error, const char** text))                    \
  FUNCTION(device_count, cuDeviceGetCount, (int* count))                                                     \
  FUNCTION(device_get, cuDeviceGet, (calotype_cu_device * device, int ordinal))                              \
  FUNCTION(device_name, cuDeviceGetName, (char* name, int length, calotype_cu_device device))                \
  FUNCTION(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, calotype_cu_device device))   \
  FUNCTION(device_memory, cuDeviceTotalMem_v2, (size_t* bytes, calotype_cu_device device))                   \
  FUNCTION(device_pool, cuDeviceGetDefaultMemPool, (calotype_cu_handle * pool, calotype_cu_device device))   \
  FUNCTION(pool_set, cuMemPoolSetAttribute, (calotype_cu_handle pool, int attribute, void* value))           \
  FUNCTION(context_retain, cuDevicePrimaryCtxRetain,                                                         \
           (calotype_cu_handle * context, calotype_cu_device device))                                        \
  FUNCTION(context_release, cuDevicePrimaryCtxRelease_v2, (calotype_cu_device device))                       \
  FUNCTION(context_push, cuCtxPushCurrent_v2, (calotype_cu_handle context))                                  \
  FUNCTION(context_pop, cuCtxPopCurrent_v2, (calotype_cu_handle * context))                                  \
  FUNCTION(stream_create, cuStreamCreate, (calotype_cu_handle * stream, unsigned flags))                     \
  FUNCTION(stream_destroy, cuStreamDestroy_v2, (calotype_cu_handle stream))                                  \
  FUNCTION(stream_synchronize, cuStreamSynchronize, (calotype_cu_handle stream))                             \
  FUNCTION(capture_mode, cuThreadExchangeStreamCaptureMode, (int* mode))                                     \
  FUNCTION(capture_begin, cuStreamBeginCapture_v2, (calotype_cu_handle stream, int mode))                    \
  FUNCTION(capture_end, cuStreamEndCapture, (calotype_cu_handle stream, calotype_cu_handle * graph))         \
  FUNCTION(graph_make, cuGraphInstantiateWithFlags,                                                          \
           (calotype_cu_handle * made, calotype_cu_handle graph, unsigned long long flags))                  \
  FUNCTION(graph_launch, cuGraphLaunch, (calotype_cu_handle made, calotype_cu_handle stream))                \
  FUNCTION(graph_unmake, cuGraphExecDestroy, (calotype_cu_handle made))                                      \
  FUNCTION(graph_destroy, cuGraphDestroy, (calotype_cu_handle graph))                                        \
  FUNCTION(pointer_attributes, cuPointerGetAttributes,                                                       \
           (unsigned count, int* attributes, void** values, calotype_cu_pointer pointer))                    \
  FUNCTION(allocate, cuMemAlloc_v2, (calotype_cu_pointer * memory, size_t bytes))                            \
  FUNCTION(release, cuMemFree_v2, (calotype_cu_pointer memory))                                              \
  FUNCTION(allocate_async, cuMemAllocAsync,                                                                  \
           (calotype_cu_pointer * memory, size_t bytes, calotype_cu_handle stream))                          \
  FUNCTION(release_async, cuMemFreeAsync, (calotype_cu_pointer memory, calotype_cu_handle stream))           \
  FUNCTION(upload, cuMemcpyHtoDAsync_v2,                                                                     \
           (calotype_cu_pointer to, const void* from, size_t bytes, calotype_cu_handle stream))              \
  FUNCTION(download, cuMemcpyDtoHAsync_v2,                                                                   \
           (void* to, calotype_cu_pointer from, size_t bytes, calotype_cu_handle stream))                    \
  FUNCTION(copy, cuMemcpyDtoDAsync_v2,                                                                       \
           (calotype_cu_pointer to, calotype_cu_pointer from, size_t bytes, calotype_cu_handle stream))      \
  FUNCTION(fill, cuMemsetD8Async,                                                                            \
           (calotype_cu_pointer to, unsigned char value, size_t bytes, calotype_cu_handle stream))           \
  FUNCTION(module_load, cuModuleLoadData, (calotype_cu_handle * module, const void* image))                  \
  FUNCTION(module_unload, cuModuleUnload, (calotype_cu_handle module))                                       \
  FUNCTION(module_function, cuModuleGetFunction,                                                             \
           (calotype_cu_handle * function, calotype_cu_handle module, const char* name))                     \
  FUNCTION(function_attribute, cuFuncGetAttribute, (int* value, int attribute, calotype_cu_handle function)) \
  FUNCTION(function_set, cuFuncSetAttribute, (calotype_cu_handle function, int attribute, int value))        \
  FUNCTION(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                           \
           (int* blocks, calotype_cu_handle function, int threads, size_t shared_bytes))                     \
  FUNCTION(launch, cuLaunchKernel,                                                                           \
           (calotype_cu_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                  \
            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,                     \
            calotype_cu_handle stream, void** parameters, void** extra))                                     \
  FUNCTION(launch_with, cuLaunchKernelEx,                                                                    \
           (const calotype_cu_launch* launch, calotype_cu_handle function, void** parameters, void** extra)) \
  FUNCTION(clusters_that_fit, cuOccupancyMaxActiveClusters,                                                  \
           (int* clusters, calotype_cu_handle function, const calotype_cu_launch* launch))                   \
  FUNCTION(event_create, cuEventCreate, (calotype_cu_handle * event, unsigned flags))                        \
  FUNCTION(event_destroy, cuEventDestroy_v2, (calotype_cu_handle event))                                     \
  FUNCTION(event_record, cuEventRecord, (calotype_cu_handle event, calotype_cu_handle stream))               \
  FUNCTION(event_synchronize, cuEventSynchronize, (calotype_cu_handle event))                                \
  FUNCTION(event_elapsed, cuEventElapsedTime,                                                                \
           (float* milliseconds, calotype_cu_handle start, calotype_cu_handle end))

/* The same of what older drivers do not have: null there. */
#define CALOTYPE_CUDA_NEWER_FUNCTIONS(FUNCTION)                                                            \
  FUNCTION(encode_tensor, cuTensorMapEncodeTiled,                                                          \
           (calotype_cu_tensor_map * map, int type, uint32_t rank, void* address, const uint64_t* extents, \
            const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides, int interleave, \
            int swizzle, int promotion, int fill))

typedef struct calotype_cuda {
#define CALOTYPE_CUDA_MEMBER(name, symbol, parameters) calotype_cu_result(*name) parameters;
  CALOTYPE_CUDA_FUNCTIONS(CALOTYPE_CUDA_MEMBER)
  CALOTYPE_CUDA_NEWER_FUNCTIONS(CALOTYPE_CUDA_MEMBER)
#undef CALOTYPE_CUDA_MEMBER
} calotype_cuda;

/* The driver, opened and initialised once a process; null with the context's error saying which piece is
 * missing. CALOTYPE_LIBCUDA names another library. */
const calotype_cuda* calotype_cuda_open(calotype_context* context);

/* CALOTYPE_GOOD for a result of 0; else the context's error says what the driver said of `action`. Faults of
 * kernels end the process's use of the GPU: the error says so, and after the first one which that was. */
calotype_error_kind calotype_cuda_result(calotype_context* context, const calotype_cuda* cuda,
                                         calotype_cu_result result, const char* action);
/* The same about the kernel or stage `func`. */
calotype_error_kind calotype_cuda_result_of(calotype_context* context, const calotype_cuda* cuda,
                                            calotype_cu_result result, const char* func, const char* action);

#ifdef __cplusplus
}
#endif
