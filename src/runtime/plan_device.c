/* The steps of a plan on a device: mirrors of host buffers, workspace, launches. */

#include <stdio.h>
#include <string.h>

#include "runtime/overlap.h"
#include "runtime/plan_call.h"

static int is_host_buffer(const calotype_argument* argument) {
  return argument->buffer && argument->buffer->device == 0 && calotype_elements(argument->buffer) > 0;
}

/* Device memory that holds a host buffer's whole span, so that its strides stay good, with the first element
 * where the plan wants it. */
static calotype_error_kind make_mirror(const call* c, uint32_t i) {
  const calotype_device* device = c->code->device;
  const calotype_buffer* b = c->arguments[i].buffer;
  const uintptr_t align = c->plan->arguments[i].base_align ? c->plan->arguments[i].base_align : 1;
  int64_t bytes, below;
  calotype_span(b, &bytes, &below);
  void* memory = NULL;
  calotype_error_kind kind = device->allocate(device->state, c->context, c->plan->arguments[i].name,
                                              bytes + (int64_t)(align - 1), &memory);
  if (kind) return kind;
  char* start = (char*)memory + (align - ((uintptr_t)memory + (uintptr_t)below) % align) % align;
  c->argument_memory[i].pointer = start + below;
  c->argument_memory[i].allocated = memory;
  if (c->plan->arguments[i].is_output && !c->plan->arguments[i].keeps) return CALOTYPE_GOOD;
  return device->upload(device->state, c->context, start, (const char*)b->data - below, bytes);
}

static calotype_error_kind bring_back(const call* c, uint32_t i) {
  const calotype_device* device = c->code->device;
  const calotype_buffer* b = c->arguments[i].buffer;
  int64_t bytes, below;
  calotype_span(b, &bytes, &below);
  const void* mirror = (const char*)c->argument_memory[i].pointer - below;
  if (calotype_lies_together(b)) {
    return device->download(device->state, c->context, (char*)b->data - below, mirror, bytes);
  }
  char* staged = calotype_allocate(c->context, (size_t)bytes);
  if (!staged) {
    return calotype_fail(c->context, CALOTYPE_OUT_OF_MEMORY, c->plan->arguments[i].name, NULL,
                         "no memory to copy the output back");
  }
  calotype_error_kind kind = device->download(device->state, c->context, staged, mirror, bytes);
  calotype_error_kind finished = device->finish(device->state, c->context);
  if (!kind) kind = finished;
  if (!kind) calotype_scatter(b, b->data, staged + below);
  calotype_release(c->context, staged);
  return kind;
}

static calotype_error_kind allocate_workspace(const call* c) {
  const calotype_device* device = c->code->device;
  for (uint32_t i = 0; i < c->plan->workspace_count; ++i) {
    const calotype_plan_workspace* w = &c->plan->workspace[i];
    int64_t bytes;
    calotype_error_kind kind = call_evaluate(c, w->bytes, w->name, "the size of its storage", &bytes);
    if (kind) return kind;
    if (bytes <= 0) continue;
    void* memory = NULL;
    kind = device->allocate(device->state, c->context, w->name, bytes, &memory);
    if (kind) return kind;
    c->workspace[i] = (call_memory){.pointer = memory, .allocated = memory};
  }
  return CALOTYPE_GOOD;
}

/* Grid or block extents within what launches take. */
static calotype_error_kind shape_of(const call* c, const calotype_plan_function* f,
                                    const calotype_code codes[3], const char* what, const int64_t limits[3],
                                    uint32_t shape[3]) {
  for (int axis = 0; axis < 3; ++axis) {
    int64_t extent;
    calotype_error_kind kind = call_evaluate(c, codes[axis], f->name, what, &extent);
    if (kind) return kind;
    if (extent > limits[axis]) {
      char value[32], legal[32];
      snprintf(value, sizeof value, "%lld", (long long)extent);
      snprintf(legal, sizeof legal, "at most %lld", (long long)limits[axis]);
      return calotype_refuse(c->context, f->name, value, legal,
                             "%s would have %lld along %c, where at most %lld fit", what, (long long)extent,
                             "xyz"[axis], (long long)limits[axis]);
    }
    shape[axis] = extent < 0 ? 0 : (uint32_t)extent;
  }
  return CALOTYPE_GOOD;
}

/* The tensors of a kernel as they are in this call. */
static calotype_error_kind find_tensors(const call* c, const calotype_plan_function* f,
                                        calotype_tensor* tensors) {
  for (uint32_t i = 0; i < f->tensor_count; ++i) {
    const calotype_plan_tensor* t = &c->plan->tensors[f->first_tensor + i];
    tensors[i] = (calotype_tensor){.plan = t, .data = call_buffer(c, t->buffer)};
    for (int32_t d = 0; d < t->rank; ++d) {
      calotype_error_kind kind =
          call_evaluate(c, t->extents[d], t->name, "its extent", &tensors[i].extents[d]);
      if (kind) return kind;
      if (tensors[i].extents[d] <= 1) continue;
      kind = call_evaluate(c, t->strides[d], t->name, "its stride", &tensors[i].strides[d]);
      if (kind) return kind;
      tensors[i].strides[d] *= t->element_bytes; /* which a check has seen */
    }
  }
  return CALOTYPE_GOOD;
}

static calotype_error_kind launch(const call* c, uint32_t index) {
  enum { MOST_THREADS = 1024 };
  static const int64_t grid_limits[3] = {INT32_MAX, 65535, 65535};
  static const int64_t block_limits[3] = {MOST_THREADS, MOST_THREADS, 64};
  const calotype_plan_function* f = &c->plan->functions[index];
  const calotype_device* device = c->code->device;
  uint32_t grid[3] = {0}, block[3] = {0};
  calotype_error_kind kind = shape_of(c, f, f->grid, "the grid", grid_limits, grid);
  if (!kind) kind = shape_of(c, f, f->block, "the block", block_limits, block);
  if (kind) return kind;
  const int64_t threads = (int64_t)block[0] * block[1] * block[2];
  if (threads > MOST_THREADS) {
    char value[32];
    snprintf(value, sizeof value, "%lld", (long long)threads);
    return calotype_refuse(c->context, f->name, value, "at most 1024",
                           "the block would have %u x %u x %u = %s threads, where at most %d fit", block[0],
                           block[1], block[2], value, MOST_THREADS);
  }
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || block[0] == 0 || block[1] == 0 || block[2] == 0) {
    return CALOTYPE_GOOD; /* no points */
  }
  if (f->persistent) {
    uint32_t resident = 1;
    kind = device->resident(device->state, c->context, index, block, &resident);
    if (kind) return kind;
    if (grid[0] > resident) grid[0] = resident;
  }
  call_gather(c, f);
  calotype_tensor tensors[CALOTYPE_MOST_TENSORS];
  kind = find_tensors(c, f, tensors);
  if (kind) return kind;
  return device->launch(device->state, c->context, index, grid, block, c->scalar_values, c->buffer_values,
                        tensors);
}

static calotype_error_kind run_steps(const call* c) {
  for (uint32_t i = 0; i < c->plan->step_count; ++i) {
    if (!c->plan->functions[c->plan->steps[i]].gpu) {
      return calotype_fail(c->context, CALOTYPE_INTERNAL, c->plan->functions[c->plan->steps[i]].name, NULL,
                           "a host function among the kernels of a plan");
    }
    calotype_error_kind kind = launch(c, c->plan->steps[i]);
    if (kind) return kind;
  }
  return CALOTYPE_GOOD;
}

static calotype_error_kind check_memory(const call* c) {
  const calotype_device* device = c->code->device;
  if (!device->check_memory) return CALOTYPE_GOOD;
  for (uint32_t i = 0; i < c->count; ++i) {
    const calotype_buffer* b = c->arguments[i].buffer;
    if (!b || calotype_elements(b) == 0) continue;
    calotype_error_kind kind = device->check_memory(device->state, c->context, c->plan->arguments[i].name, b);
    if (kind) return kind;
  }
  return CALOTYPE_GOOD;
}

static calotype_error_kind place_arguments(const call* c, int* mirrored) {
  for (uint32_t i = 0; i < c->count; ++i) {
    if (c->arguments[i].buffer) c->argument_memory[i].pointer = c->arguments[i].buffer->data;
    if (!is_host_buffer(&c->arguments[i])) continue;
    *mirrored = 1;
    calotype_error_kind kind = make_mirror(c, i);
    if (kind) return kind;
  }
  return CALOTYPE_GOOD;
}

static calotype_error_kind bring_outputs_back(const call* c) {
  for (uint32_t i = 0; i < c->count; ++i) {
    if (!c->plan->arguments[i].is_output || !is_host_buffer(&c->arguments[i])) continue;
    calotype_error_kind kind = bring_back(c, i);
    if (kind) return kind;
  }
  return CALOTYPE_GOOD;
}

static void release_all(const call* c) {
  const calotype_device* device = c->code->device;
  for (uint32_t i = 0; i < c->count; ++i) {
    if (c->argument_memory[i].allocated) device->release(device->state, c->argument_memory[i].allocated);
  }
  for (uint32_t i = 0; i < c->plan->workspace_count; ++i) {
    if (c->workspace[i].allocated) device->release(device->state, c->workspace[i].allocated);
  }
}

calotype_error_kind call_run_device(const call* c) {
  if (!c->code || !c->code->device) {
    return calotype_fail(c->context, CALOTYPE_INTERNAL, c->plan->name, NULL,
                         "the plan's kernels have no device");
  }
  const calotype_device* device = c->code->device;
  int mirrored = 0;
  calotype_error_kind kind = check_memory(c);
  if (!kind) kind = place_arguments(c, &mirrored);
  if (!kind) kind = allocate_workspace(c);
  if (!kind) kind = run_steps(c);
  if (!kind) kind = bring_outputs_back(c);
  release_all(c);
  if (mirrored) { /* after a failure too: copies may still use the caller's memory */
    calotype_context rest;
    memset(&rest, 0, sizeof rest);
    calotype_error_kind finished = device->finish(device->state, kind ? &rest : c->context);
    if (!kind) kind = finished;
  }
  return kind;
}
