#pragma once
/* Values that stay from one call of a plan to the next: memory found by a key of integers. Calls of several
 * threads share it. */

#include "calotype/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The newest values of each owner stay. Of older ones those used longest ago go as soon as there are more
 * than these in all: bytes, and entries. */
enum { CALOTYPE_KEPT_BYTES = 64 << 20, CALOTYPE_KEPT_ENTRIES = 256 };

typedef struct calotype_value_cache calotype_value_cache;
typedef struct calotype_values calotype_values; /* several pieces of memory */

/* Null: no memory. */
calotype_value_cache* calotype_value_cache_make(void);
/* No call may use it any more. Null is nothing. */
void calotype_value_cache_free(calotype_value_cache* cache);

/* The values of that owner with that key, which stay until they are given back; null: there are none. */
calotype_values* calotype_values_find(calotype_value_cache* cache, uint32_t owner, const int64_t* key,
                                      uint32_t key_count);
/* Memory of `bytes[i]` bytes each, aligned to 64, for values that no other call sees before they are
 * published. Null: no memory. */
calotype_values* calotype_values_make(uint32_t owner, const int64_t* key, uint32_t key_count,
                                      const int64_t* bytes, uint32_t count);
void* calotype_values_memory(const calotype_values* values, uint32_t i);
/* From now on others find them, unless another thread was first. */
void calotype_values_publish(calotype_value_cache* cache, calotype_values* values);
/* Ends the use of values that were found or made. */
void calotype_values_give_back(calotype_value_cache* cache, calotype_values* values);

/* What it holds now. */
int64_t calotype_value_cache_bytes(calotype_value_cache* cache);
uint32_t calotype_value_cache_entries(calotype_value_cache* cache);

#ifdef __cplusplus
}
#endif
