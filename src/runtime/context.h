#pragma once
/* What the runtime itself does through a context: memory and failures. */

#include <stdarg.h>

#include "calotype/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CALOTYPE_PRINTF(text, rest) __attribute__((format(printf, text, rest)))
#else
#define CALOTYPE_PRINTF(text, rest)
#endif

/* Memory from the context's hooks, aligned to 64 bytes; null where there is none. */
void* calotype_allocate(calotype_context* context, size_t bytes);
void calotype_release(calotype_context* context, void* memory);

/* Fill the context's error, tell its hook, and return the kind. `func` and `value` may be null. Text that
 * does not fit is cut. */
calotype_error_kind calotype_fail(calotype_context* context, calotype_error_kind kind, const char* func,
                                  const char* value, const char* format, ...) CALOTYPE_PRINTF(5, 6);

/* The same; `legal` says what would be legal, or what helps. */
calotype_error_kind calotype_fail_legal(calotype_context* context, calotype_error_kind kind, const char* func,
                                        const char* value, const char* legal, const char* format, ...)
    CALOTYPE_PRINTF(6, 7);

/* The same for an argument that does not fit. */
calotype_error_kind calotype_refuse(calotype_context* context, const char* func, const char* value,
                                    const char* legal, const char* format, ...) CALOTYPE_PRINTF(5, 6);

/* CALOTYPE_OUT_OF_MEMORY for the storage of `func`: the message has the bytes, and what is legal is said. */
calotype_error_kind calotype_out_of_memory(calotype_context* context, const char* func, int64_t bytes);

/* "s32", "bf16", "bool" into `text`. */
void calotype_type_name(calotype_type type, char text[16]);
/* Bytes of one element in memory. */
int64_t calotype_type_bytes(calotype_type type);

#ifdef __cplusplus
}
#endif
