#pragma once
/* A call in progress, shared by the files that run a plan. */

#include "runtime/context.h"
#include "runtime/plan.h"

/* Memory of one argument or workspace during the call. */
typedef struct call_memory {
  void* pointer;   /* what functions get */
  void* allocated; /* to be released after the call, or null */
  uintptr_t low;   /* of an argument that was checked: its lowest byte, and how many from there */
  int64_t bytes;
} call_memory;

/* Kept values during the call. */
typedef struct call_kept {
  calotype_values* values; /* null: none, or they are workspace like any other */
  int made;                /* by this call, and not yet published */
} call_kept;

typedef struct call {
  const calotype_plan* plan;
  const calotype_plan_code* code;
  calotype_context* context;
  const calotype_argument* arguments;
  uint32_t count; /* of arguments */
  int on_device;  /* the plan launches kernels */
  /* scratch */
  int64_t* slots;
  calotype_cell *stack, *temps;
  call_memory *argument_memory, *workspace;
  call_kept* kept;
  int64_t* key;           /* of the kept values at hand, then the sizes of their memory */
  int64_t* scalar_values; /* of the function that is called */
  void** buffer_values;
} call;

/* Everything about single arguments and about pairs of them. */
calotype_error_kind call_check_arguments(const call* c);
calotype_error_kind call_check_overlaps(const call* c);
/* Fill the slots; then hold the first `count` of the plan's conditions against them. */
calotype_error_kind call_compute_scalars(const call* c);
calotype_error_kind call_check_conditions(const call* c, uint32_t count);

/* The value of a size expression; fails where it leaves 64 bits, naming `what`. */
calotype_error_kind call_evaluate(const call* c, calotype_code code, const char* func, const char* what,
                                  int64_t* result);

/* Finds kept values, or makes memory for them, and says so in their slots and workspace. */
calotype_error_kind call_take_kept(const call* c);
/* The call is over: what it made is there for others if it was good. */
void call_leave_kept(const call* c, int good);

/* Run the steps, on the host or on the device. */
calotype_error_kind call_run_host(const call* c);
calotype_error_kind call_run_device(const call* c);
/* What functions get for a buffer: an argument, or -1 - workspace. */
void* call_buffer(const call* c, int32_t ref);
/* Scalars and buffers of a function into scalar_values and buffer_values. */
void call_gather(const call* c, const calotype_plan_function* function);
