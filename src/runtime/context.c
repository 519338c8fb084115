/* Defaults behind a context's hooks, and how failures are recorded. */

#include "runtime/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

void* calotype_allocate(calotype_context* context, size_t bytes) {
  if (context->allocate) return context->allocate(context->user, bytes);
  if (bytes > SIZE_MAX - ALIGNMENT) return NULL;
  size_t size = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return aligned_alloc(ALIGNMENT, size ? size : ALIGNMENT);
}

void calotype_release(calotype_context* context, void* memory) {
  if (!memory) return;
  if (context->release) {
    context->release(context->user, memory);
  } else if (!context->allocate) {
    free(memory);
  }
}

static calotype_error_kind record(calotype_context* context, calotype_error_kind kind, const char* func,
                                  const char* value, const char* legal, const char* format,
                                  va_list arguments) {
  calotype_error* error = &context->error;
  memset(error, 0, sizeof *error);
  error->kind = kind;
  snprintf(error->func, sizeof error->func, "%s", func ? func : "");
  snprintf(error->value, sizeof error->value, "%s", value ? value : "");
  snprintf(error->legal, sizeof error->legal, "%s", legal ? legal : "");
  vsnprintf(error->message, sizeof error->message, format, arguments);
  if (context->failed) context->failed(context->user, error);
  return kind;
}

calotype_error_kind calotype_fail_legal(calotype_context* context, calotype_error_kind kind, const char* func,
                                        const char* value, const char* legal, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record(context, kind, func, value, legal, format, arguments);
  va_end(arguments);
  return kind;
}

calotype_error_kind calotype_fail(calotype_context* context, calotype_error_kind kind, const char* func,
                                  const char* value, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record(context, kind, func, value, NULL, format, arguments);
  va_end(arguments);
  return kind;
}

calotype_error_kind calotype_refuse(calotype_context* context, const char* func, const char* value,
                                    const char* legal, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record(context, CALOTYPE_BAD_ARGUMENT, func, value, legal, format, arguments);
  va_end(arguments);
  return CALOTYPE_BAD_ARGUMENT;
}

calotype_error_kind calotype_out_of_memory(calotype_context* context, const char* func, int64_t bytes) {
  char value[32];
  snprintf(value, sizeof value, "%lld bytes", (long long)bytes);
  return calotype_fail_legal(context, CALOTYPE_OUT_OF_MEMORY, func, value,
                             "smaller sizes, or a schedule that stores less of it at a time, as compute_at",
                             "no memory for %lld bytes of storage", (long long)bytes);
}

void calotype_type_name(calotype_type type, char text[16]) {
  const char* prefix = "?";
  if (type.code == CALOTYPE_INT) prefix = "s";
  if (type.code == CALOTYPE_UINT) prefix = "u";
  if (type.code == CALOTYPE_FLOAT) prefix = "f";
  if (type.code == CALOTYPE_BFLOAT) prefix = "bf";
  if (type.code == CALOTYPE_UINT && type.bits == 1) {
    snprintf(text, 16, "bool");
  } else if (type.code == CALOTYPE_E4M3 || type.code == CALOTYPE_E5M2) {
    snprintf(text, 16, "%s", type.code == CALOTYPE_E4M3 ? "e4m3" : "e5m2");
  } else {
    snprintf(text, 16, "%s%d", prefix, type.bits);
  }
}

int64_t calotype_type_bytes(calotype_type type) { return (type.bits + 7) / 8; }
