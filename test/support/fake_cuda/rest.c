/* The functions of the driver that fake_cuda.c does not define: they fail. */

#include "runtime/cuda_driver.h"

enum { UNKNOWN_ERROR = 999 };

#define FAIL(name, symbol, parameters) \
  __attribute__((weak)) calotype_cu_result symbol parameters { return UNKNOWN_ERROR; }
/* NOLINTNEXTLINE(misc-unused-parameters): failing needs none of them */
CALOTYPE_CUDA_FUNCTIONS(FAIL)
