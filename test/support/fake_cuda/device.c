/* A driver without a GPU, to be named by CALOTYPE_LIBCUDA: it has one device, of compute capability 9.0, and
 * refuses every module. It shows what is said on a machine with a GPU whose code does not fit. */

#include <stdio.h>

#include "runtime/cuda_driver.h"

enum { NO_BINARY_FOR_GPU = 209 };

calotype_cu_result cuInit(unsigned flags) {
  (void)flags;
  return 0;
}

calotype_cu_result cuGetErrorName(calotype_cu_result error, const char** text) {
  *text = error == NO_BINARY_FOR_GPU ? "CUDA_ERROR_NO_BINARY_FOR_GPU" : "CUDA_ERROR_UNKNOWN";
  return 0;
}

calotype_cu_result cuGetErrorString(calotype_cu_result error, const char** text) {
  *text = error == NO_BINARY_FOR_GPU ? "no kernel image is available for execution on the device"
                                     : "unknown error";
  return 0;
}

calotype_cu_result cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}

calotype_cu_result cuDeviceGet(calotype_cu_device* device, int ordinal) {
  *device = ordinal;
  return 0;
}

calotype_cu_result cuDeviceGetName(char* name, int length, calotype_cu_device device) {
  (void)device;
  snprintf(name, (size_t)length, "No GPU");
  return 0;
}

calotype_cu_result cuDeviceGetAttribute(int* value, int attribute, calotype_cu_device device) {
  (void)device;
  switch (attribute) {
    case CALOTYPE_CU_MAJOR:
      *value = 9;
      break;
    case CALOTYPE_CU_MULTIPROCESSORS:
      *value = 1;
      break;
    case CALOTYPE_CU_SHARED_OPTIN:
      *value = 227 * 1024;
      break;
    default:
      *value = 0;
      break;
  }
  return 0;
}

calotype_cu_result cuDeviceTotalMem_v2(size_t* bytes, calotype_cu_device device) {
  (void)device;
  *bytes = (size_t)1 << 30;
  return 0;
}

calotype_cu_result cuDevicePrimaryCtxRetain(calotype_cu_handle* context, calotype_cu_device device) {
  static int something;
  (void)device;
  *context = &something;
  return 0;
}

calotype_cu_result cuCtxPushCurrent_v2(calotype_cu_handle context) {
  (void)context;
  return 0;
}

calotype_cu_result cuCtxPopCurrent_v2(calotype_cu_handle* context) {
  *context = NULL;
  return 0;
}

calotype_cu_result cuModuleLoadData(calotype_cu_handle* module, const void* image) {
  (void)module;
  (void)image;
  return NO_BINARY_FOR_GPU;
}
