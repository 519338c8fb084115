/* The computed part of a call's checks: scalars, conditions and the messages of those that fail. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/plan_call.h"

calotype_error_kind call_evaluate(const call* c, calotype_code code, const char* func, const char* what,
                                  int64_t* result) {
  if (!calotype_evaluate(c->plan->ops, code, c->slots, c->stack, c->temps, result)) return CALOTYPE_GOOD;
  return calotype_refuse(c->context, func, NULL, "smaller sizes",
                         "the sizes are too large: %s leaves 64 bits", what);
}

calotype_error_kind call_compute_scalars(const call* c) {
  for (uint32_t i = 0; i < c->plan->scalar_count; ++i) {
    const calotype_plan_scalar* s = &c->plan->scalars[i];
    if (s->kind == CALOTYPE_SCALAR_VALUE) {
      calotype_error_kind kind = call_evaluate(c, s->value, c->plan->name, s->name, &c->slots[i]);
      if (kind) return kind;
      continue;
    }
    if (s->kind == CALOTYPE_SCALAR_PRESENT) {
      c->slots[i] = 0;
      continue;
    }
    const calotype_argument* argument = &c->arguments[s->argument];
    if (s->kind == CALOTYPE_SCALAR_PARAM) {
      c->slots[i] = argument->scalar;
      continue;
    }
    const calotype_dim* dim = &argument->buffer->dims[s->dim];
    c->slots[i] = s->kind == CALOTYPE_SCALAR_EXTENT   ? dim->extent
                  : s->kind == CALOTYPE_SCALAR_STRIDE ? dim->stride
                                                      : dim->min;
  }
  return CALOTYPE_GOOD;
}

static void print_value(char* text, size_t size, char format, int64_t bits) {
  switch (format) {
    case 'f': {
      uint32_t low = (uint32_t)bits;
      float value;
      memcpy(&value, &low, sizeof value);
      snprintf(text, size, "%g", (double)value);
      break;
    }
    case 'd': {
      double value;
      memcpy(&value, &bits, sizeof value);
      snprintf(text, size, "%g", value);
      break;
    }
    case 'u':
      snprintf(text, size, "%" PRIu64, (uint64_t)bits);
      break;
    case 'b':
      snprintf(text, size, "%s", bits ? "true" : "false");
      break;
    default:
      snprintf(text, size, "%" PRId64, bits);
  }
}

/* `value`, or a note that it leaves 64 bits, as text. */
static void describe(const call* c, const calotype_plan_value* value, char* text, size_t size) {
  int64_t bits;
  if (calotype_evaluate(c->plan->ops, value->code, c->slots, c->stack, c->temps, &bits)) {
    snprintf(text, size, "(beyond 64 bits)");
  } else {
    print_value(text, size, value->format, bits);
  }
}

/* `format` into `text`, each {} replaced by the check's next value. */
static void fill_in(const call* c, const calotype_plan_check* check, const char* format, uint32_t* used,
                    char* text, size_t size) {
  char value[64];
  size_t length = 0;
  for (const char* at = format; *at && length + sizeof value < size; ++at) {
    if (at[0] != '{' || at[1] != '}' || *used == check->value_count) {
      text[length++] = *at;
      continue;
    }
    describe(c, &c->plan->values[check->first_value + (*used)++], value, sizeof value);
    length += (size_t)snprintf(text + length, size - length, "%s", value);
    ++at;
  }
  text[length] = 0;
}

/* The first value of the message is also the error's. */
static calotype_error_kind fail_check(const call* c, const calotype_plan_check* check) {
  char message[sizeof c->context->error.message], legal[sizeof c->context->error.legal], first[64] = "";
  uint32_t used = 0;
  if (check->value_count) describe(c, &c->plan->values[check->first_value], first, sizeof first);
  fill_in(c, check, check->message, &used, message, sizeof message);
  fill_in(c, check, check->legal ? check->legal : "", &used, legal, sizeof legal);
  return calotype_refuse(c->context, check->func, first, legal, "%s", message);
}

calotype_error_kind call_check_conditions(const call* c, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const calotype_plan_check* check = &c->plan->checks[i];
    int64_t holds;
    calotype_error_kind kind = call_evaluate(c, check->condition, check->func, "a condition on them", &holds);
    if (kind) return kind;
    if (!holds) return fail_check(c, check);
  }
  return CALOTYPE_GOOD;
}
