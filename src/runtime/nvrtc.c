/* Finds libnvrtc and compiles with it. */

#include "runtime/nvrtc.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/context.h"
#include "runtime/disk_cache.h"

typedef int result; /* nvrtcResult: 0 good, 6 the source does not compile */
typedef void* program;
enum { COMPILATION_FAILED = 6 };

#define NVRTC_FUNCTIONS(FUNCTION)                                                                        \
  FUNCTION(version, nvrtcVersion, result, (int* major, int* minor))                                      \
  FUNCTION(error_string, nvrtcGetErrorString, const char*, (result code))                                \
  FUNCTION(create, nvrtcCreateProgram, result,                                                           \
           (program * made, const char* source, const char* name, int headers, const char* const* texts, \
            const char* const* names))                                                                   \
  FUNCTION(destroy, nvrtcDestroyProgram, result, (program * made))                                       \
  FUNCTION(compile, nvrtcCompileProgram, result, (program made, int count, const char* const* options))  \
  FUNCTION(ptx_size, nvrtcGetPTXSize, result, (program made, size_t* size))                              \
  FUNCTION(ptx, nvrtcGetPTX, result, (program made, char* text))                                         \
  FUNCTION(cubin_size, nvrtcGetCUBINSize, result, (program made, size_t* size))                          \
  FUNCTION(cubin, nvrtcGetCUBIN, result, (program made, char* code))                                     \
  FUNCTION(log_size, nvrtcGetProgramLogSize, result, (program made, size_t* size))                       \
  FUNCTION(log, nvrtcGetProgramLog, result, (program made, char* text))

static struct {
#define MEMBER(name, symbol, returns, parameters) returns(*name) parameters;
  NVRTC_FUNCTIONS(MEMBER)
#undef MEMBER
} nvrtc;

static int version; /* 0: not there, and `missing` says why */
static char missing[512];
static char path[512];
static int is_open; /* else `version` is what an earlier process found in the file */
static pthread_once_t found_once = PTHREAD_ONCE_INIT, opened_once = PTHREAD_ONCE_INIT;

/* NVRTC opens libnvrtc-builtins by its bare name when it compiles. One that lies beside it, in a folder that
   the loader does not search, is found then because it is loaded already. */
static void load_builtins(const char* file) {
  const char* slash = strrchr(file, '/');
  char pattern[512];
  glob_t found;
  if (!slash) return;
  snprintf(pattern, sizeof pattern, "%.*s/libnvrtc-builtins.so*", (int)(slash - file), file);
  if (glob(pattern, 0, NULL, &found) == 0) {
    for (size_t i = found.gl_pathc; i-- > 0;) {
      if (dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL)) break;
    }
  }
  globfree(&found);
}

/* Open the library and find its functions; its version, or 0. A library that lacks one is passed over. Writes
 * nothing that calotype_nvrtc_version reads, since that may go on meanwhile. */
static int open_file(const char* file) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) return 0;
#define RESOLVE(name, symbol, returns, parameters)                          \
  {                                                                         \
    void* address = dlsym(library, #symbol);                                \
    if (!address) {                                                         \
      snprintf(missing, sizeof missing, "%.300s has no %s", file, #symbol); \
      dlclose(library);                                                     \
      return 0;                                                             \
    }                                                                       \
    memcpy((void*)&nvrtc.name, (const void*)&address, sizeof address);      \
  }
  NVRTC_FUNCTIONS(RESOLVE)
#undef RESOLVE
  int major = 0, minor = 0;
  if (nvrtc.version(&major, &minor) != 0) return 0;
  is_open = 1;
  load_builtins(file);
  return major * 1000 + minor * 10;
}

static int found_in(const char* file, int its_version) {
  version = its_version;
  snprintf(path, sizeof path, "%s", file);
  return 1;
}

/* Opening NVRTC takes longer than to read a kernel from the disk cache, whose key has NVRTC's version. So the
 * version of a file is kept there too, by what tells the file from another; 0 where a bare name does not
 * tell. */
static int key_of_file(const char* file, calotype_hash* key) {
  struct stat info;
  char whole[PATH_MAX];
  if (!strchr(file, '/') || !realpath(file, whole) || stat(whole, &info) != 0) return 0;
  const int64_t facts[] = {(int64_t)info.st_dev, (int64_t)info.st_ino, (int64_t)info.st_size,
                           (int64_t)info.st_mtim.tv_sec, (int64_t)info.st_mtim.tv_nsec};
  *key = calotype_hash_text(calotype_hash_text(calotype_hash_start(), "nvrtc version 1"), whole);
  *key = calotype_hash_bytes(*key, facts, sizeof facts);
  return 1;
}

static int remembered(const calotype_hash* key, const char* file) {
  size_t size = 0;
  int32_t kept = 0;
  void* data = calotype_cache_read(*key, &size);
  if (data && size == sizeof kept) memcpy(&kept, data, sizeof kept);
  free(data);
  return kept > 0 && found_in(file, kept);
}

static int try_file(const char* file) {
  calotype_hash key;
  const int has_key = key_of_file(file, &key);
  if (has_key && remembered(&key, file)) return 1;
  const int32_t opened = open_file(file);
  if (!opened) return 0;
  if (has_key) calotype_cache_write(key, &opened, sizeof opened);
  return found_in(file, opened);
}

/* The newest match of a pattern that opens: matches sort by name. */
static int try_pattern(const char* pattern) {
  glob_t found;
  int good = 0;
  if (glob(pattern, 0, NULL, &found) == 0) {
    for (size_t i = found.gl_pathc; i-- > 0 && !good;) {
      if (!strstr(found.gl_pathv[i], "builtins") && !strstr(found.gl_pathv[i], ".alt."))
        good = try_file(found.gl_pathv[i]);
    }
  }
  globfree(&found);
  return good;
}

static int try_folder(const char* folder, const char* below) {
  char pattern[512];
  if (!folder || !*folder) return 0;
  snprintf(pattern, sizeof pattern, "%s/%slibnvrtc.so*", folder, below);
  return try_pattern(pattern);
}

static int try_toolkit(void) {
  return try_folder(getenv("CUDA_HOME"), "lib64/") || try_folder(getenv("CUDA_PATH"), "lib64/") ||
         try_folder("/usr/local/cuda", "lib64/");
}

static int try_loader(void) {
  return try_file("libnvrtc.so.13") || try_file("libnvrtc.so.12") || try_file("libnvrtc.so");
}

/* Wheels of 13 put it into nvidia/cu13/lib, those before into nvidia/cuda_nvrtc/lib. */
static int try_wheel(const char* root, const char* below) {
  char folder[400];
  if (!root || !*root) return 0;
  snprintf(folder, sizeof folder, "%s/%snvidia", root, below);
  return try_folder(folder, "cu1*/lib/") || try_folder(folder, "cuda_nvrtc/lib/");
}

static int try_wheels(void) {
  return try_wheel(getenv("CALOTYPE_SITE_PACKAGES"), "") ||
         try_wheel(getenv("VIRTUAL_ENV"), "lib/python3*/site-packages/");
}

static void find_library(void) {
  const char* named = getenv("CALOTYPE_NVRTC");
  if (named && *named) {
    if (!try_folder(named, "") && !try_file(named) && !missing[0]) {
      snprintf(missing, sizeof missing, "CALOTYPE_NVRTC names '%.300s', where no libnvrtc can be opened",
               named);
    }
    return;
  }
  if (try_toolkit() || try_loader() || try_wheels() || missing[0]) return;
  snprintf(missing, sizeof missing,
           "libnvrtc.so not found: install the CUDA toolkit or the nvidia-cuda-nvrtc wheel, or set "
           "CALOTYPE_NVRTC");
}

int calotype_nvrtc_version(calotype_context* context) {
  pthread_once(&found_once, find_library);
  if (!version) calotype_fail(context, CALOTYPE_NO_TARGET, NULL, NULL, "%s", missing);
  return version;
}

const char* calotype_nvrtc_path(void) { return path; }

/* A file that is another one by now would give code under the wrong version. */
static void open_found(void) {
  if (!is_open && open_file(path) != version) is_open = 0;
}

/* One text of a program through its pair of functions; null without memory or text. */
static char* fetch(program made, result (*size_of)(program, size_t*), result (*get)(program, char*),
                   size_t* size) {
  *size = 0;
  if (size_of(made, size) != 0 || *size == 0) return NULL;
  char* text = calloc(*size + 1, 1);
  if (text && get(made, text) == 0) return text;
  free(text);
  *size = 0;
  return NULL;
}

static calotype_error_kind compile(calotype_context* context, program made, const char* name,
                                   const char* arch, const char* const* options, int option_count,
                                   calotype_nvrtc_output* output) {
  enum { MOST_OPTIONS = 32 };
  char architecture[64];
  const char* all[MOST_OPTIONS];
  size_t size;
  if (option_count >= MOST_OPTIONS) {
    return calotype_fail(context, CALOTYPE_INTERNAL, name, NULL, "more than %d options for NVRTC",
                         MOST_OPTIONS - 1);
  }
  snprintf(architecture, sizeof architecture, "--gpu-architecture=%s", arch);
  all[0] = architecture;
  for (int i = 0; i < option_count; ++i) all[i + 1] = options[i];
  result outcome = nvrtc.compile(made, option_count + 1, all);
  output->log = fetch(made, nvrtc.log_size, nvrtc.log, &size);
  output->failed = outcome == COMPILATION_FAILED;
  if (output->failed) return CALOTYPE_GOOD;
  if (outcome != 0) {
    return calotype_fail(context, CALOTYPE_NO_TARGET, name, arch, "NVRTC cannot compile for %s: %s%s%s", arch,
                         nvrtc.error_string(outcome), output->log ? ": " : "",
                         output->log ? output->log : "");
  }
  output->ptx = fetch(made, nvrtc.ptx_size, nvrtc.ptx, &output->ptx_size);
  output->cubin = fetch(made, nvrtc.cubin_size, nvrtc.cubin, &output->cubin_size);
  if (!output->ptx || !output->cubin) {
    return calotype_fail(context, CALOTYPE_OUT_OF_MEMORY, name, NULL, "NVRTC gave no code for %s", arch);
  }
  output->ptx_size = strlen(output->ptx);
  return CALOTYPE_GOOD;
}

calotype_error_kind calotype_nvrtc_compile(calotype_context* context, const char* source, const char* name,
                                           const char* arch, const char* const* options, int option_count,
                                           calotype_nvrtc_output* output) {
  memset(output, 0, sizeof *output);
  if (!calotype_nvrtc_version(context)) return context->error.kind;
  pthread_once(&opened_once, open_found);
  if (!is_open) {
    return calotype_fail(context, CALOTYPE_NO_TARGET, name, path, "NVRTC cannot be opened any more: %.300s",
                         path);
  }
  program made = NULL;
  result outcome = nvrtc.create(&made, source, name, 0, NULL, NULL);
  if (outcome != 0) {
    return calotype_fail(context, CALOTYPE_NO_TARGET, name, NULL, "NVRTC does not start: %s",
                         nvrtc.error_string(outcome));
  }
  calotype_error_kind kind = compile(context, made, name, arch, options, option_count, output);
  nvrtc.destroy(&made);
  return kind;
}

void calotype_nvrtc_free(calotype_nvrtc_output* output) {
  free(output->ptx);
  free(output->cubin);
  free(output->log);
  memset(output, 0, sizeof *output);
}
