#pragma once
/* Compiled code kept on disk, by a hash of everything it depends on. An entry that is cut short, altered or
 * of another key is as good as none. Nothing here fails: without a cache work is done again. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct calotype_hash {
  uint64_t high, low;
} calotype_hash;

/* FNV-1a of 128 bits, continued from `start`; begin with calotype_hash_start(). */
calotype_hash calotype_hash_start(void);
calotype_hash calotype_hash_bytes(calotype_hash start, const void* data, size_t size);
/* A text with its end, so that "ab" "c" and "a" "bc" differ. */
calotype_hash calotype_hash_text(calotype_hash start, const char* text);

/* The folder: $CALOTYPE_CACHE, or $XDG_CACHE_HOME/calotype, or ~/.cache/calotype; 0 where there is none or
 * CALOTYPE_CACHE is "off". */
int calotype_cache_folder(char* folder, size_t size);

/* The data kept under the key, to be freed with free(); null where there is none. */
void* calotype_cache_read(calotype_hash key, size_t* size);
/* Keep data under the key; other processes see all of it or nothing. Returns 1 if it is kept. */
int calotype_cache_write(calotype_hash key, const void* data, size_t size);

#ifdef __cplusplus
}
#endif
