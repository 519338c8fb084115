/* The computed part of a call's checks: scalars, conditions and the messages of those that fail. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/plan_call.h"

calotype_error_kind call_evaluate(const call* c, calotype_code code, const char* func, const char* what,
                                  int64_t* result) {
  if (!calotype_evaluate(c->plan->ops, code, c->slots, c->stack, c->temps, result)) return CALOTYPE_GOOD;
  return calotype_fail(c->context, CALOTYPE_BAD_ARGUMENT, func, NULL,
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

/* The message with each {} replaced by the next value; the first value is also the error's. */
static calotype_error_kind fail_check(const call* c, const calotype_plan_check* check) {
  char message[sizeof c->context->error.message], first[64] = "", value[64];
  size_t length = 0;
  uint32_t used = 0;
  for (const char* at = check->message; *at && length + sizeof value < sizeof message; ++at) {
    if (at[0] != '{' || at[1] != '}' || used == check->value_count) {
      message[length++] = *at;
      continue;
    }
    describe(c, &c->plan->values[check->first_value + used], value, sizeof value);
    if (used++ == 0) memcpy(first, value, sizeof first);
    length += (size_t)snprintf(message + length, sizeof message - length, "%s", value);
    ++at;
  }
  message[length] = 0;
  return calotype_fail(c->context, CALOTYPE_BAD_ARGUMENT, check->func, first, "%s", message);
}

calotype_error_kind call_check_conditions(const call* c) {
  for (uint32_t i = 0; i < c->plan->check_count; ++i) {
    const calotype_plan_check* check = &c->plan->checks[i];
    int64_t holds;
    calotype_error_kind kind = call_evaluate(c, check->condition, check->func, "a condition on them", &holds);
    if (kind) return kind;
    if (!holds) return fail_check(c, check);
  }
  return CALOTYPE_GOOD;
}
