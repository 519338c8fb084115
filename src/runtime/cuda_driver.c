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
#define RESOLVE_NEWER(name, symbol, parameters)                         \
  {                                                                     \
    void* address = dlsym(library, #symbol);                            \
    memcpy((void*)&driver.name, (const void*)&address, sizeof address); \
  }
  CALOTYPE_CUDA_NEWER_FUNCTIONS(RESOLVE_NEWER)
#undef RESOLVE_NEWER
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

/* Results after which every call of the process fails: the GPU's context is lost. */
static int is_fault(calotype_cu_result result) {
  return result == CALOTYPE_CU_ECC_UNCORRECTABLE || result == CALOTYPE_CU_ILLEGAL_ADDRESS ||
         result == CALOTYPE_CU_LAUNCH_TIMEOUT || result == CALOTYPE_CU_ASSERT ||
         (result >= CALOTYPE_CU_HARDWARE_STACK && result <= CALOTYPE_CU_LAUNCH_FAILED);
}

/* What was being done, and what was said, when the process met its first fault. */
static struct {
  pthread_mutex_t mutex;
  char action[200], text[160];
} first_fault = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static calotype_error_kind fail_with_fault(calotype_context* context, const char* func, const char* name,
                                           const char* action, const char* text) {
  static const char* const help = "a new process, and compute-sanitizer to find the access that is wrong";
  char earlier_action[sizeof first_fault.action], earlier_text[sizeof first_fault.text];
  pthread_mutex_lock(&first_fault.mutex);
  const int is_first = !first_fault.action[0];
  if (is_first) {
    snprintf(first_fault.action, sizeof first_fault.action, "%s", action);
    snprintf(first_fault.text, sizeof first_fault.text, "%s", text);
  }
  memcpy(earlier_action, first_fault.action, sizeof earlier_action);
  memcpy(earlier_text, first_fault.text, sizeof earlier_text);
  pthread_mutex_unlock(&first_fault.mutex);
  if (is_first) {
    return calotype_fail_legal(context, CALOTYPE_NO_TARGET, func, name, help,
                               "%s: %s. The fault ends this process's use of the GPU", action, text);
  }
  return calotype_fail_legal(context, CALOTYPE_NO_TARGET, func, name, help,
                             "%s: this process has lost the GPU to an earlier fault (%s: %s)", action,
                             earlier_action, earlier_text);
}

calotype_error_kind calotype_cuda_result_of(calotype_context* context, const calotype_cuda* cuda,
                                            calotype_cu_result result, const char* func, const char* action) {
  if (result == 0) return CALOTYPE_GOOD;
  const char *name = NULL, *text = NULL;
  cuda->error_name(result, &name);
  cuda->error_string(result, &text);
  if (!text) text = "unknown error of the driver";
  if (is_fault(result)) return fail_with_fault(context, func, name, action, text);
  calotype_error_kind kind =
      result == CALOTYPE_CU_OUT_OF_MEMORY ? CALOTYPE_OUT_OF_MEMORY : CALOTYPE_NO_TARGET;
  return calotype_fail(context, kind, func, name, "%s: %s", action, text);
}

calotype_error_kind calotype_cuda_result(calotype_context* context, const calotype_cuda* cuda,
                                         calotype_cu_result result, const char* action) {
  return calotype_cuda_result_of(context, cuda, result, NULL, action);
}
