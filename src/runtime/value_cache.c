/* Values by key: one list, most recently used first, under one lock. It is held for the search alone, which
 * the bound on entries keeps short; values are used outside of it and counted by those that use them. */

#include "runtime/value_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct calotype_values {
  calotype_values *newer, *older; /* in the list */
  uint32_t users;                 /* calls, and the list itself */
  uint32_t owner;
  uint32_t key_count;
  int64_t bytes;
  int64_t* key;
  uint32_t count;
  void* memory[]; /* `count` pieces */
};

struct calotype_value_cache {
  pthread_mutex_t lock;
  calotype_values *newest, *oldest;
  int64_t bytes;
  uint32_t entries;
};

static void free_values(calotype_values* v) {
  for (uint32_t i = 0; i < v->count; ++i) free(v->memory[i]);
  free(v->key);
  free(v);
}

/* ---- The list, under the lock */

static void unlink_values(calotype_value_cache* cache, calotype_values* v) {
  if (v->newer) v->newer->older = v->older;
  if (v->older) v->older->newer = v->newer;
  if (cache->newest == v) cache->newest = v->older;
  if (cache->oldest == v) cache->oldest = v->newer;
  v->newer = v->older = NULL;
}

static void link_newest(calotype_value_cache* cache, calotype_values* v) {
  v->older = cache->newest;
  if (cache->newest) cache->newest->newer = v;
  cache->newest = v;
  if (!cache->oldest) cache->oldest = v;
}

static calotype_values* search(const calotype_value_cache* cache, uint32_t owner, const int64_t* key,
                               uint32_t key_count) {
  calotype_values* v = cache->newest;
  while (v && (v->owner != owner || v->key_count != key_count ||
               (key_count != 0 && memcmp(v->key, key, key_count * sizeof *key) != 0)))
    v = v->older;
  return v;
}

static int is_newest_of_owner(const calotype_values* v) {
  for (const calotype_values* n = v->newer; n; n = n->newer) {
    if (n->owner == v->owner) return 0;
  }
  return 1;
}

/* Takes the oldest ones out until the rest fits. Those that nobody uses are left in `*unused`, a list by
 * `older`, to be freed outside the lock. */
static void shrink(calotype_value_cache* cache, calotype_values** unused) {
  calotype_values* v = cache->oldest;
  while (v && (cache->bytes > CALOTYPE_KEPT_BYTES || cache->entries > CALOTYPE_KEPT_ENTRIES)) {
    calotype_values* next = v->newer;
    if (!is_newest_of_owner(v)) {
      unlink_values(cache, v);
      cache->bytes -= v->bytes;
      --cache->entries;
      if (--v->users == 0) {
        v->older = *unused;
        *unused = v;
      }
    }
    v = next;
  }
}

/* ---- The interface */

calotype_value_cache* calotype_value_cache_make(void) {
  calotype_value_cache* cache = calloc(1, sizeof *cache);
  if (cache && pthread_mutex_init(&cache->lock, NULL) != 0) {
    free(cache);
    return NULL;
  }
  return cache;
}

void calotype_value_cache_free(calotype_value_cache* cache) {
  if (!cache) return;
  for (calotype_values* v = cache->newest; v;) {
    calotype_values* older = v->older;
    free_values(v);
    v = older;
  }
  pthread_mutex_destroy(&cache->lock);
  free(cache);
}

calotype_values* calotype_values_find(calotype_value_cache* cache, uint32_t owner, const int64_t* key,
                                      uint32_t key_count) {
  pthread_mutex_lock(&cache->lock);
  calotype_values* v = search(cache, owner, key, key_count);
  if (v) {
    ++v->users;
    unlink_values(cache, v);
    link_newest(cache, v);
  }
  pthread_mutex_unlock(&cache->lock);
  return v;
}

calotype_values* calotype_values_make(uint32_t owner, const int64_t* key, uint32_t key_count,
                                      const int64_t* bytes, uint32_t count) {
  calotype_values* v = calloc(1, sizeof *v + count * sizeof v->memory[0]);
  if (!v) return NULL;
  v->users = 1;
  v->owner = owner;
  v->key_count = key_count;
  v->count = count;
  v->key = malloc(key_count ? key_count * sizeof *key : 1);
  if (v->key && key_count) memcpy(v->key, key, key_count * sizeof *key);
  int complete = v->key != NULL;
  for (uint32_t i = 0; complete && i < count; ++i) {
    const int64_t wanted = bytes[i] > 0 ? bytes[i] : 1;
    if (wanted <= INT64_MAX - ALIGNMENT) {
      const int64_t size = (wanted + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
      v->memory[i] = aligned_alloc(ALIGNMENT, (size_t)size);
      v->bytes += size;
    }
    complete = v->memory[i] != NULL;
  }
  if (complete) return v;
  free_values(v);
  return NULL;
}

void* calotype_values_memory(const calotype_values* values, uint32_t i) { return values->memory[i]; }

void calotype_values_publish(calotype_value_cache* cache, calotype_values* values) {
  calotype_values* unused = NULL;
  pthread_mutex_lock(&cache->lock);
  if (!search(cache, values->owner, values->key, values->key_count)) {
    ++values->users;
    link_newest(cache, values);
    cache->bytes += values->bytes;
    ++cache->entries;
    shrink(cache, &unused);
  }
  pthread_mutex_unlock(&cache->lock);
  while (unused) {
    calotype_values* next = unused->older;
    free_values(unused);
    unused = next;
  }
}

void calotype_values_give_back(calotype_value_cache* cache, calotype_values* values) {
  pthread_mutex_lock(&cache->lock);
  const int last = --values->users == 0;
  pthread_mutex_unlock(&cache->lock);
  if (last) free_values(values);
}

int64_t calotype_value_cache_bytes(calotype_value_cache* cache) {
  pthread_mutex_lock(&cache->lock);
  const int64_t bytes = cache->bytes;
  pthread_mutex_unlock(&cache->lock);
  return bytes;
}

uint32_t calotype_value_cache_entries(calotype_value_cache* cache) {
  pthread_mutex_lock(&cache->lock);
  const uint32_t entries = cache->entries;
  pthread_mutex_unlock(&cache->lock);
  return entries;
}
