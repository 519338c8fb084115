/* The steps of a plan on the host. */

#include "runtime/plan_call.h"

static calotype_error_kind allocate_workspace(const call* c) {
  for (uint32_t i = 0; i < c->plan->workspace_count; ++i) {
    const calotype_plan_workspace* w = &c->plan->workspace[i];
    if (c->workspace[i].pointer) continue; /* of values that are kept */
    int64_t bytes;
    calotype_error_kind kind = call_evaluate(c, w->bytes, w->name, "the size of its storage", &bytes);
    if (kind) return kind;
    if (bytes < 0) bytes = 0;
    void* memory = calotype_allocate(c->context, (size_t)bytes);
    if (!memory) return calotype_out_of_memory(c->context, w->name, bytes);
    c->workspace[i] = (call_memory){memory, memory};
  }
  return CALOTYPE_GOOD;
}

/* What a host function's status means; a failed check, and an allocation that found no memory, have told
 * hooks of their own, and what those recorded stays. */
static calotype_error_kind status_of(const call* c, const char* function, int status) {
  if (status == 0) return CALOTYPE_GOOD;
  if (c->context->error.kind) return c->context->error.kind;
  if (status == 2)
    return calotype_fail(c->context, CALOTYPE_OUT_OF_MEMORY, function, NULL, "no memory for its storage");
  return calotype_fail(c->context, CALOTYPE_CHECK_FAILED, function, NULL,
                       "a check inside the function failed");
}

calotype_error_kind call_run_host(const call* c) {
  for (uint32_t i = 0; i < c->count; ++i) {
    if (c->arguments[i].buffer) c->argument_memory[i].pointer = c->arguments[i].buffer->data;
  }
  calotype_error_kind kind = call_take_kept(c);
  if (!kind) kind = allocate_workspace(c);
  for (uint32_t i = 0; !kind && i < c->plan->step_count; ++i) {
    const calotype_plan_function* function = &c->plan->functions[c->plan->steps[i]];
    calotype_host_function entry = c->code->host ? c->code->host[c->plan->steps[i]] : NULL;
    if (!entry) {
      kind = calotype_fail(c->context, CALOTYPE_INTERNAL, function->name, NULL,
                           "the plan's function has no code");
      break;
    }
    call_gather(c, function);
    void* host_context = c->context->host_context ? c->context->host_context : c->context;
    kind = status_of(c, function->name, entry(host_context, c->scalar_values, c->buffer_values));
  }
  for (uint32_t i = 0; i < c->plan->workspace_count; ++i)
    calotype_release(c->context, c->workspace[i].allocated);
  call_leave_kept(c, kind == CALOTYPE_GOOD);
  return kind;
}
