/* Checks of the arguments of a call: each by itself, then overlap of outputs with everything else. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/overlap.h"
#include "runtime/plan_call.h"

static calotype_error_kind refuse_number(const call* c, const char* name, int64_t number, const char* legal,
                                         const char* message) {
  char value[32];
  snprintf(value, sizeof value, "%" PRId64, number);
  return calotype_refuse(c->context, name, value, legal, "%s", message);
}

static calotype_error_kind refuse_dim(const call* c, const char* name, int d, int64_t number,
                                      const char* legal, const char* what) {
  char message[160];
  snprintf(message, sizeof message, "dimension %d has %s", d, what);
  return refuse_number(c, name, number, legal, message);
}

static calotype_error_kind check_type(const call* c, const calotype_plan_argument* wanted,
                                      const calotype_buffer* b) {
  if (b->type.code == wanted->type.code && b->type.bits == wanted->type.bits) return CALOTYPE_GOOD;
  char got[16], needed[16];
  calotype_type_name(b->type, got);
  calotype_type_name(wanted->type, needed);
  return calotype_refuse(c->context, wanted->name, got, needed,
                         "the buffer has element type %s, where %s is needed", got, needed);
}

static calotype_error_kind check_rank(const call* c, const calotype_plan_argument* wanted,
                                      const calotype_buffer* b) {
  if (b->rank == wanted->rank) return CALOTYPE_GOOD;
  char value[32], legal[32];
  snprintf(value, sizeof value, "%d", b->rank);
  snprintf(legal, sizeof legal, "%d", wanted->rank);
  return calotype_refuse(c->context, wanted->name, value, legal,
                         "the buffer has rank %d, where rank %d is needed", b->rank, wanted->rank);
}

static calotype_error_kind check_dims(const call* c, const calotype_plan_argument* wanted,
                                      const calotype_buffer* b) {
  for (int d = 0; d < b->rank; ++d) {
    const calotype_dim dim = b->dims[d];
    int64_t end;
    if (dim.extent < 0) return refuse_dim(c, wanted->name, d, dim.extent, "0 or more", "a negative extent");
    if (__builtin_add_overflow(dim.min, dim.extent, &end))
      return refuse_dim(c, wanted->name, d, dim.min, "coordinates within 64 bits",
                        "coordinates beyond 64 bits");
    if (wanted->is_output && dim.stride == 0 && dim.extent > 1)
      return refuse_dim(c, wanted->name, d, 0, "strides that keep elements apart",
                        "stride 0, so that several elements of the output share memory");
  }
  return CALOTYPE_GOOD;
}

/* Copies of host buffers on a device are made as they must be. */
static calotype_error_kind check_base(const call* c, const calotype_plan_argument* wanted,
                                      const calotype_buffer* b) {
  char value[32], legal[64];
  if (wanted->base_align <= 1 || (c->on_device && b->device == 0)) return CALOTYPE_GOOD;
  int64_t past = (int64_t)((uintptr_t)b->data % wanted->base_align);
  if (past == 0) return CALOTYPE_GOOD;
  snprintf(value, sizeof value, "%" PRId64, past);
  snprintf(legal, sizeof legal, "an address that is a multiple of %u bytes", (unsigned)wanted->base_align);
  return calotype_refuse(
      c->context, wanted->name, value, legal,
      "the data lies %s bytes past a multiple of %u, and the schedule's %s is for such multiples", value,
      (unsigned)wanted->base_align, wanted->base_origin);
}

static calotype_error_kind check_memory(const call* c, const calotype_plan_argument* wanted,
                                        const calotype_buffer* b) {
  int64_t bytes, below;
  calotype_error_kind kind;
  if (calotype_elements(b) == 0) return CALOTYPE_GOOD;
  if (!b->data) {
    return calotype_refuse(c->context, wanted->name, "null", "memory for every element",
                           "the buffer has no data");
  }
  if (b->device != 0 && !c->on_device) {
    return refuse_number(c, wanted->name, b->device, "host memory, device 0",
                         "the buffer is in device memory, but the kernel runs on the host");
  }
  int64_t size = calotype_type_bytes(b->type), misaligned = (int64_t)((uintptr_t)b->data % (uintptr_t)size);
  if (misaligned)
    return refuse_number(c, wanted->name, misaligned, "an address that is a multiple of the element's size",
                         "the data is not aligned to its element type");
  kind = check_base(c, wanted, b);
  if (kind) return kind;
  if (calotype_span(b, &bytes, &below)) {
    return calotype_refuse(c->context, wanted->name, NULL, "smaller extents or strides",
                           "extents and strides reach beyond the 64-bit address space");
  }
  call_memory* memory = &c->argument_memory[wanted - c->plan->arguments];
  memory->low = (uintptr_t)b->data - (uintptr_t)below;
  memory->bytes = bytes;
  if (wanted->is_output && calotype_overlaps_itself(b)) {
    return calotype_refuse(c->context, wanted->name, NULL, "strides that keep elements apart",
                           "the strides of the output make several elements share memory");
  }
  return CALOTYPE_GOOD;
}

/* The number that a slot holds. */
static double number_of(calotype_type type, int64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  if (type.code == CALOTYPE_INT) return (double)bits;
  if (type.code == CALOTYPE_UINT) return (double)(uint64_t)bits;
  if (type.bits == 64) {
    double wide;
    memcpy(&wide, &bits, sizeof wide);
    return wide;
  }
  if (type.code == CALOTYPE_BFLOAT) low <<= 16;
  if (type.code == CALOTYPE_FLOAT && type.bits == 16) {
    const uint32_t sign = (low & 0x8000) << 16, exponent = low >> 10 & 31, fraction = low & 0x3ff;
    /* of subnormal numbers the fraction counts steps of 2^-24 */
    if (exponent == 0) return (sign ? -1.0 : 1.0) * fraction / 16777216;
    low = sign | (exponent == 31 ? 0xff : exponent + 112) << 23 | fraction << 13;
  }
  memcpy(&value, &low, sizeof value);
  return (double)value;
}

static calotype_error_kind check_range(const call* c, const calotype_plan_argument* wanted, int64_t bits) {
  char value[32], legal[80];
  if (!wanted->has_range) return CALOTYPE_GOOD;
  const double number = number_of(wanted->type, bits);
  const int floats = wanted->type.code == CALOTYPE_FLOAT || wanted->type.code == CALOTYPE_BFLOAT;
  const int digits = floats && wanted->type.bits <= 32 ? 9 : 17;
  if (number >= wanted->low && number <= wanted->high) return CALOTYPE_GOOD;
  snprintf(value, sizeof value, "%.*g", digits, number);
  snprintf(legal, sizeof legal, "a value from %.*g to %.*g", digits, wanted->low, digits, wanted->high);
  return calotype_refuse(c->context, wanted->name, value, legal, "the parameter is %s, outside its range",
                         value);
}

static calotype_error_kind check_argument(const call* c, const calotype_plan_argument* wanted,
                                          const calotype_buffer* buffer) {
  if (wanted->is_param) {
    if (!buffer) return check_range(c, wanted, c->arguments[wanted - c->plan->arguments].scalar);
    return calotype_refuse(c->context, wanted->name, NULL, "a scalar",
                           "the argument is a buffer, where a scalar is needed");
  }
  if (!buffer) {
    return calotype_refuse(c->context, wanted->name, NULL, "a buffer",
                           "the argument is a scalar, where a buffer of rank %d is needed", wanted->rank);
  }
  calotype_error_kind kind = check_type(c, wanted, buffer);
  if (!kind) kind = check_rank(c, wanted, buffer);
  if (!kind) kind = check_dims(c, wanted, buffer);
  if (!kind) kind = check_memory(c, wanted, buffer);
  return kind;
}

calotype_error_kind call_check_arguments(const call* c) {
  const calotype_plan* plan = c->plan;
  if (c->count != plan->argument_count) {
    char value[32], legal[32];
    snprintf(value, sizeof value, "%u", c->count);
    snprintf(legal, sizeof legal, "%u", plan->argument_count);
    return calotype_refuse(c->context, plan->name, value, legal,
                           "the call has %u arguments, where %u are needed", c->count, plan->argument_count);
  }
  for (uint32_t i = 0; i < c->count; ++i) {
    calotype_error_kind kind = check_argument(c, &plan->arguments[i], c->arguments[i].buffer);
    if (kind) return kind;
  }
  return CALOTYPE_GOOD;
}

/* Whether every coordinate of `out` is the same memory in `in`. */
static int same_elements(const calotype_buffer* out, const calotype_buffer* in) {
  int same = out->data == in->data && out->rank == in->rank;
  for (int d = 0; same && d < out->rank; ++d)
    same = out->dims[d].min == in->dims[d].min &&
           (out->dims[d].stride == in->dims[d].stride || out->dims[d].extent <= 1);
  return same;
}

/* Whether two arguments' spans are apart, as most are: of those the elements need not be looked at. */
static int apart(const call_memory* a, const call_memory* b) {
  return a->low < b->low ? b->low - a->low >= (uint64_t)a->bytes : a->low - b->low >= (uint64_t)b->bytes;
}

calotype_error_kind call_check_overlaps(const call* c) {
  const calotype_plan_argument* names = c->plan->arguments;
  for (uint32_t i = 0; i < c->count; ++i) {
    if (!names[i].is_output) continue;
    for (uint32_t j = 0; j < c->count; ++j) {
      /* of two outputs, the pair once */
      if (j == i || names[j].is_param || (names[j].is_output && j > i)) continue;
      if (apart(&c->argument_memory[i], &c->argument_memory[j])) continue;
      if (!calotype_overlap(c->arguments[i].buffer, c->arguments[j].buffer)) continue;
      if (names[i].shared_with == j + 1) {
        if (same_elements(c->arguments[i].buffer, c->arguments[j].buffer)) continue;
        return calotype_refuse(c->context, names[i].name, names[j].name,
                               "the first element and the strides of the input, or memory of its own",
                               "the output shares memory with input '%s', but not element for element",
                               names[j].name);
      }
      return calotype_refuse(c->context, names[i].name, names[j].name, "memory of its own",
                             "the output shares memory with %s '%s'", names[j].is_output ? "output" : "input",
                             names[j].name);
    }
  }
  return CALOTYPE_GOOD;
}
