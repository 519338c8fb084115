/* Lines that print() in an algorithm writes. */

#include "runtime/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, NUMBER = 32 };

static void (*default_print)(void* user, const char* line);
static void* default_user;

void calotype_set_print(void (*print)(void* user, const char* line), void* user) {
  default_print = print;
  default_user = user;
}

static void print_float(char* text, float value) {
  for (int digits = 6; digits <= 9; ++digits) {
    snprintf(text, NUMBER, "%.*g", digits, (double)value);
    if (strtof(text, NULL) == value) return;
  }
}

static void print_double(char* text, double value) {
  for (int digits = 15; digits <= 17; ++digits) {
    snprintf(text, NUMBER, "%.*g", digits, value);
    if (strtod(text, NULL) == value) return;
  }
}

static void print_value(char* text, char kind, int64_t bits) {
  if (kind == 's') {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    print_float(text, value);
  } else if (kind == 'd') {
    double value;
    memcpy(&value, &bits, sizeof value);
    print_double(text, value);
  } else if (kind == 'u') {
    snprintf(text, NUMBER, "%" PRIu64, (uint64_t)bits);
  } else if (kind == 'b') {
    snprintf(text, NUMBER, "%s", bits ? "true" : "false");
  } else {
    snprintf(text, NUMBER, "%" PRId64, bits);
  }
}

void calotype_print(const calotype_context* context, const char* text, const int64_t* values,
                    const char* kinds) {
  char line[LINE];
  size_t length = 0;
  for (const char* at = text; *at && length + NUMBER < LINE; ++at) {
    if (at[0] == '{' && at[1] == '}' && *kinds) {
      print_value(line + length, *kinds++, *values++);
      length += strlen(line + length);
      ++at;
      continue;
    }
    if (at[0] == '{' && at[1] == '{') ++at;
    line[length++] = *at;
  }
  line[length] = 0;
  if (context && context->print) {
    context->print(context->user, line);
  } else if (default_print) {
    default_print(default_user, line);
  } else {
    fprintf(stderr, "%s\n", line);
  }
}
