/* A call from its start to the steps. */

#include "runtime/plan.h"

#include <string.h>

#include "runtime/overlap.h"
#include "runtime/plan_call.h"

/* Scratch of a call: in `near` if it fits there, so that small plans allocate nothing. */
typedef struct scratch {
  _Alignas(16) unsigned char near[4096];
  void* far;
} scratch;

/* Memory for `count` elements of `size` bytes, of any type. */
static void* take(unsigned char** at, size_t count, size_t size) {
  void* start = *at;
  *at += (count * size + 15) / 16 * 16;
  return start;
}

static void carve(call* c, unsigned char** at) {
  const calotype_plan* plan = c->plan;
  uint32_t scalars = 0, buffers = 0;
  for (uint32_t i = 0; i < plan->function_count; ++i) {
    if (plan->functions[i].scalar_count > scalars) scalars = plan->functions[i].scalar_count;
    if (plan->functions[i].buffer_count > buffers) buffers = plan->functions[i].buffer_count;
  }
  c->slots = take(at, plan->scalar_count, sizeof *c->slots);
  c->stack = take(at, plan->stack_size, sizeof *c->stack);
  c->temps = take(at, plan->temp_count, sizeof *c->temps);
  c->argument_memory = take(at, plan->argument_count, sizeof *c->argument_memory);
  c->workspace = take(at, plan->workspace_count, sizeof *c->workspace);
  uint32_t keys = 0;
  for (uint32_t i = 0; i < plan->kept_count; ++i) {
    const uint32_t count = plan->kept[i].key_count + plan->kept[i].workspace_count;
    if (count > keys) keys = count;
  }
  c->kept = take(at, plan->kept_count, sizeof *c->kept);
  c->key = take(at, keys, sizeof *c->key);
  c->scalar_values = take(at, scalars, sizeof *c->scalar_values);
  c->buffer_values = (void**)take(at, buffers, sizeof *c->buffer_values);
}

static int has_kernels(const calotype_plan* plan) {
  for (uint32_t i = 0; i < plan->step_count; ++i) {
    if (plan->functions[plan->steps[i]].gpu) return 1;
  }
  return 0;
}

static calotype_error_kind open_call(call* c, scratch* s) {
  memset(&c->context->error, 0, sizeof c->context->error);
  c->on_device = has_kernels(c->plan);
  /* once for the size, then for the places */
  unsigned char* at = s->near;
  carve(c, &at);
  size_t size = (size_t)(at - s->near);
  s->far = NULL;
  at = s->near;
  if (size > sizeof s->near) {
    s->far = calotype_allocate(c->context, size);
    if (!s->far)
      return calotype_fail(c->context, CALOTYPE_OUT_OF_MEMORY, c->plan->name, NULL, "no memory for the call");
    at = s->far;
  }
  memset(at, 0, size);
  carve(c, &at);
  return CALOTYPE_GOOD;
}

static void close_call(call* c, scratch* s) { calotype_release(c->context, s->far); }

/* Whether no output has elements. Code is compiled for outputs that all have some, so a mixture is refused.
 */
static calotype_error_kind check_empty(const call* c, int* empty) {
  const char *without = NULL, *with = NULL;
  for (uint32_t i = 0; i < c->count; ++i) {
    if (!c->plan->arguments[i].is_output) continue;
    const char** which = calotype_elements(c->arguments[i].buffer) == 0 ? &without : &with;
    *which = c->plan->arguments[i].name;
  }
  *empty = without != NULL;
  if (!without || !with) return CALOTYPE_GOOD;
  return calotype_refuse(c->context, without, "0 elements", "outputs that all have elements, or none",
                         "the output has no elements, and output '%s' has", with);
}

/* All checks. `*empty`: there is nothing to do; then only the plan's conditions on shapes are asked for, not
 * those that speak of elements that are computed. */
static calotype_error_kind check(const call* c, int* empty) {
  calotype_error_kind kind = call_check_arguments(c);
  if (!kind) kind = check_empty(c, empty);
  if (!kind && !*empty) kind = call_check_overlaps(c);
  if (!kind) kind = call_compute_scalars(c);
  if (!kind) kind = call_check_conditions(c, *empty ? c->plan->shape_check_count : c->plan->check_count);
  return kind;
}

void* call_buffer(const call* c, int32_t ref) {
  return ref >= 0 ? c->argument_memory[ref].pointer : c->workspace[-1 - ref].pointer;
}

void call_gather(const call* c, const calotype_plan_function* function) {
  for (uint32_t i = 0; i < function->scalar_count; ++i) {
    c->scalar_values[i] = c->slots[c->plan->slot_refs[function->first_scalar + i]];
  }
  for (uint32_t i = 0; i < function->buffer_count; ++i) {
    c->buffer_values[i] = call_buffer(c, c->plan->buffer_refs[function->first_buffer + i]);
  }
}

calotype_error_kind calotype_plan_run(const calotype_plan* plan, const calotype_plan_code* code,
                                      calotype_context* context, const calotype_argument* arguments,
                                      uint32_t count) {
  call c = {.plan = plan, .code = code, .context = context, .arguments = arguments, .count = count};
  scratch s;
  int empty = 0;
  calotype_error_kind kind = open_call(&c, &s);
  if (kind) return kind;
  kind = check(&c, &empty);
  if (!kind && !empty) kind = c.on_device ? call_run_device(&c) : call_run_host(&c);
  close_call(&c, &s);
  return kind;
}

calotype_error_kind calotype_plan_check_call(const calotype_plan* plan, calotype_context* context,
                                             const calotype_argument* arguments, uint32_t count) {
  call c = {.plan = plan, .context = context, .arguments = arguments, .count = count};
  scratch s;
  int empty = 0;
  calotype_error_kind kind = open_call(&c, &s);
  if (kind) return kind;
  kind = check(&c, &empty);
  close_call(&c, &s);
  return kind;
}

calotype_error_kind calotype_plan_scalars(const calotype_plan* plan, calotype_context* context,
                                          const calotype_argument* arguments, uint32_t count,
                                          int64_t* slots) {
  call c = {.plan = plan, .context = context, .arguments = arguments, .count = count};
  scratch s;
  calotype_error_kind kind = open_call(&c, &s);
  if (kind) return kind;
  kind = call_compute_scalars(&c);
  if (!kind) memcpy(slots, c.slots, plan->scalar_count * sizeof *slots);
  close_call(&c, &s);
  return kind;
}
