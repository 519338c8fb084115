/* One file an entry: a header with key, length and checksum, then the data. Files are written beside their
 * place and renamed into it. */

#include "runtime/disk_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef unsigned __int128 wide;

typedef struct header {
  char magic[16];
  calotype_hash key;
  uint64_t size;
  calotype_hash checksum;
} header;

static const char MAGIC[16] = "calotype cache1";

calotype_hash calotype_hash_start(void) { return (calotype_hash){0x6c62272e07bb0142u, 0x62b821756295c58du}; }

calotype_hash calotype_hash_bytes(calotype_hash start, const void* data, size_t size) {
  const wide prime = ((wide)1 << 88) + 0x13b;
  const unsigned char* bytes = data;
  wide hash = (wide)start.high << 64 | start.low;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * prime;
  return (calotype_hash){(uint64_t)(hash >> 64), (uint64_t)hash};
}

calotype_hash calotype_hash_text(calotype_hash start, const char* text) {
  return calotype_hash_bytes(start, text, strlen(text) + 1);
}

static int same(calotype_hash a, calotype_hash b) { return a.high == b.high && a.low == b.low; }

static calotype_hash checksum(const void* data, size_t size) {
  return calotype_hash_bytes(calotype_hash_start(), data, size);
}

int calotype_cache_folder(char* folder, size_t size) {
  const char* named = getenv("CALOTYPE_CACHE");
  const char* base = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  int length = -1;
  if (named && strcmp(named, "off") == 0) return 0;
  if (named && *named) {
    length = snprintf(folder, size, "%s", named);
  } else if (base && *base) {
    length = snprintf(folder, size, "%s/calotype", base);
  } else if (home && *home) {
    length = snprintf(folder, size, "%s/.cache/calotype", home);
  }
  return length > 0 && (size_t)length < size;
}

/* The entry's file; 0 where there is no cache. */
static int entry_path(calotype_hash key, char* path, size_t size) {
  char folder[3900];
  if (!calotype_cache_folder(folder, sizeof folder)) return 0;
  int length = snprintf(path, size, "%s/%016" PRIx64 "%016" PRIx64 ".bin", folder, key.high, key.low);
  return length > 0 && (size_t)length < size;
}

static void* read_entry(FILE* file, calotype_hash key, size_t* size) {
  header h;
  struct stat info;
  if (fread(&h, sizeof h, 1, file) != 1 || memcmp(h.magic, MAGIC, sizeof MAGIC) != 0 || !same(h.key, key))
    return NULL;
  if (fstat(fileno(file), &info) != 0) return NULL;
  if (info.st_size < (off_t)sizeof h || h.size != (uint64_t)info.st_size - sizeof h) return NULL;
  const size_t bytes = (size_t)info.st_size - sizeof h;
  void* data = malloc(bytes ? bytes : 1);
  if (!data) return NULL;
  if (fread(data, 1, bytes, file) == bytes && same(checksum(data, bytes), h.checksum)) {
    *size = bytes;
    return data;
  }
  free(data);
  return NULL;
}

void* calotype_cache_read(calotype_hash key, size_t* size) {
  char path[4096];
  *size = 0;
  if (!entry_path(key, path, sizeof path)) return NULL;
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  void* data = read_entry(file, key, size);
  fclose(file);
  return data;
}

/* Make the folders of a path, up to its last slash. */
static void make_folders(char* path) {
  for (char* at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = 0;
    mkdir(path, 0777); /* it may exist; if it cannot be made the entry's file cannot be opened either */
    *at = '/';
  }
}

static int write_file(const char* path, const header* h, const void* data, size_t size) {
  FILE* file = fopen(path, "wbx");
  if (!file) return 0;
  int good = fwrite(h, sizeof *h, 1, file) == 1 && fwrite(data, 1, size, file) == size;
  good &= fclose(file) == 0;
  return good;
}

int calotype_cache_write(calotype_hash key, const void* data, size_t size) {
  static atomic_uint counter;
  char path[4096], draft[4160];
  if (!entry_path(key, path, sizeof path)) return 0;
  make_folders(path);
  header h = {.key = key, .size = size, .checksum = checksum(data, size)};
  memcpy(h.magic, MAGIC, sizeof MAGIC);
  snprintf(draft, sizeof draft, "%s.%ld.%u", path, (long)getpid(), atomic_fetch_add(&counter, 1));
  if (write_file(draft, &h, data, size) && rename(draft, path) == 0) return 1;
  if (errno != EEXIST) unlink(draft);
  return 0;
}
