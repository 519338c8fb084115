/* Opens libcuda. */

#include "runtime/cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/context.h"

static calotype_cuda driver;
static char missing[256]; /* why there is no driver; empty: there is one */
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static const char* resolve(void* library) {
#define RESOLVE(name, symbol, parameters)                               \
  {                                                                     \
    void* address = dlsym(library, #symbol);                            \
    if (!address) return #symbol;                                       \
    memcpy((void*)&driver.name, (const void*)&address, sizeof address); \
  }
  CALOTYPE_CUDA_FUNCTIONS(RESOLVE)
#undef RESOLVE
  return NULL;
}

static void initialise(const char* file) {
  int count = 0;
  calotype_cu_result result = driver.init(0);
  if (result == 0) result = driver.device_count(&count);
  const char* text = NULL;
  if (result != 0) {
    driver.error_string(result, &text);
    snprintf(missing, sizeof missing, "%s does not start: %s", file, text ? text : "unknown error");
  } else if (count == 0) {
    snprintf(missing, sizeof missing, "the NVIDIA driver sees no GPU on this machine");
  }
}

static void open_library(void) {
  const char* file = getenv("CALOTYPE_LIBCUDA");
  if (!file || !*file) file = "libcuda.so.1";
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(missing, sizeof missing, "%s not found: no NVIDIA driver on this machine", file);
    return;
  }
  const char* symbol = resolve(library);
  if (symbol) {
    snprintf(missing, sizeof missing, "%s has no %s: the NVIDIA driver is too old", file, symbol);
    return;
  }
  initialise(file);
}

const calotype_cuda* calotype_cuda_open(calotype_context* context) {
  pthread_once(&opened, open_library);
  if (!missing[0]) return &driver;
  calotype_fail(context, CALOTYPE_NO_TARGET, NULL, NULL, "%s", missing);
  return NULL;
}

calotype_error_kind calotype_cuda_result(calotype_context* context, const calotype_cuda* cuda,
                                         calotype_cu_result result, const char* action) {
  if (result == 0) return CALOTYPE_GOOD;
  const char *name = NULL, *text = NULL;
  cuda->error_name(result, &name);
  cuda->error_string(result, &text);
  calotype_error_kind kind =
      result == CALOTYPE_CU_OUT_OF_MEMORY ? CALOTYPE_OUT_OF_MEMORY : CALOTYPE_NO_TARGET;
  return calotype_fail(context, kind, NULL, name, "%s: %s", action,
                       text ? text : "unknown error of the driver");
}
