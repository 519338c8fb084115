#pragma once
/* NVRTC, found when it is first asked for and opened when it has to compile: CUDA C to PTX and machine code.
 */

#include "calotype/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Version as major * 1000 + minor * 10, 13000 for 13.0; 0 with the context's error where there is no NVRTC.
 *
 * Looked for in this order, once a process: the file or folder that CALOTYPE_NVRTC names (and then nowhere
 * else), the toolkit (CUDA_HOME, CUDA_PATH, the usual place), the loader's path, and the wheel
 * `nvidia-cuda-nvrtc` in the site-packages folder that CALOTYPE_SITE_PACKAGES names or in the active virtual
 * environment. */
int calotype_nvrtc_version(calotype_context* context);
/* File that was found, or "". */
const char* calotype_nvrtc_path(void);

typedef struct calotype_nvrtc_output {
  char* ptx;       /* ends in a zero */
  size_t ptx_size; /* without that zero */
  char* cubin;
  size_t cubin_size;
  char* log;
  int failed; /* the source did not compile: only the log is there */
} calotype_nvrtc_output;

/* Compile for an architecture such as "sm_90a". A source that does not compile is no error of the runtime:
 * see `failed`. The output is to be freed in any case. */
calotype_error_kind calotype_nvrtc_compile(calotype_context* context, const char* source, const char* name,
                                           const char* arch, const char* const* options, int option_count,
                                           calotype_nvrtc_output* output);
void calotype_nvrtc_free(calotype_nvrtc_output* output);

#ifdef __cplusplus
}
#endif
