#pragma once
/* The plan: what a call does, as constant data. It is made by the driver at run time or printed by an
 * ahead-of-time build, and interpreted here either way. */

#include "calotype/runtime.h"
#include "runtime/size_code.h"
#include "runtime/value_cache.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct calotype_plan_argument {
  const char* name;
  calotype_type type;
  int32_t rank; /* of a buffer */
  uint8_t is_param;
  uint8_t is_output;
  uint8_t keeps;        /* of an output: elements that the plan does not write stay as they were */
  uint32_t shared_with; /* of an output: 1 + the input that may be the same memory, with the same strides; 0:
                           none */
  uint32_t base_align; /* of a buffer: bytes that divide the address of its first element, or on a device that
                          of its copy there; 0: any do */
  const char* base_origin; /* what asks for that */
  uint8_t has_range;       /* of a Param: its value lies from low to high */
  double low, high;
} calotype_plan_argument;

/* Where slot i of the scalars comes from; evaluated in order, so a value may use earlier slots. */
typedef enum calotype_scalar_kind {
  CALOTYPE_SCALAR_EXTENT,
  CALOTYPE_SCALAR_STRIDE,
  CALOTYPE_SCALAR_MIN,
  CALOTYPE_SCALAR_PARAM,
  CALOTYPE_SCALAR_VALUE,
  CALOTYPE_SCALAR_PRESENT /* 1 if kept values are there, else 0 */
} calotype_scalar_kind;

typedef struct calotype_plan_scalar {
  const char* name;
  int32_t kind;     /* calotype_scalar_kind */
  int32_t argument; /* all but values and presence */
  int32_t dim;
  calotype_code value;
} calotype_plan_scalar;

/* A value of a message: 'i' signed, 'u' unsigned, 'f' bits of a float, 'd' bits of a double, 'b' bool. */
typedef struct calotype_plan_value {
  calotype_code code;
  char format;
} calotype_plan_value;

typedef struct calotype_plan_check {
  calotype_code condition;
  const char* message; /* one {} a value */
  const char* func;
  uint32_t first_value, value_count; /* in calotype_plan::values: the message's, then those of `legal` */
  const char* legal;                 /* what would be legal; may be null */
} calotype_plan_check;

/* Memory that lives for the call: on the device if the plan launches kernels. */
typedef struct calotype_plan_workspace {
  const char* name;
  calotype_code bytes;
} calotype_plan_workspace;

/* Workspace of a host plan whose values stay for calls with the same key. The steps compute them where `slot`
 * is 0, and only read them where it is not. */
typedef struct calotype_plan_kept {
  const char* func;
  uint32_t slot;
  uint32_t first_workspace, workspace_count;
  uint32_t first_key, key_count; /* in calotype_plan::keys */
} calotype_plan_kept;

enum { CALOTYPE_TENSOR_RANK = 5, CALOTYPE_MOST_TENSORS = 16 /* of a kernel */ };

/* Memory of a call of which a kernel copies boxes. */
typedef struct calotype_plan_tensor {
  const char* name; /* the argument's or workspace's */
  int32_t buffer;   /* as in calotype_plan::buffer_refs */
  int32_t rank;
  uint32_t element_bytes; /* 1, 2, 4 or 8 */
  uint32_t swizzle; /* bytes of the rows of a box in shared memory that are swizzled: 0, 32, 64 or 128 */
  uint32_t box[CALOTYPE_TENSOR_RANK];                                         /* elements */
  calotype_code extents[CALOTYPE_TENSOR_RANK], strides[CALOTYPE_TENSOR_RANK]; /* in elements */
} calotype_plan_tensor;

/* One as a launch has it. What is not there is 0, and so is the stride of a dimension of one element. */
typedef struct calotype_tensor {
  const calotype_plan_tensor* plan;
  void* data;
  int64_t extents[CALOTYPE_TENSOR_RANK], strides[CALOTYPE_TENSOR_RANK]; /* strides in bytes */
} calotype_tensor;

typedef struct calotype_plan_function {
  const char* name;
  uint8_t gpu;
  uint32_t first_scalar, scalar_count; /* in calotype_plan::slot_refs */
  uint32_t first_buffer, buffer_count; /* in calotype_plan::buffer_refs */
  uint32_t first_tensor, tensor_count; /* in calotype_plan::tensors */
  calotype_code grid[3], block[3];     /* kernels */
  int64_t max_threads;                 /* of a block, where known */
  uint8_t persistent; /* the grid is as many blocks as the device runs at one time, but no more than `grid` */
} calotype_plan_function;

typedef struct calotype_plan {
  const char* name;
  const calotype_op* ops;
  const calotype_plan_argument* arguments; /* inputs and Params as listed, then outputs */
  const calotype_plan_scalar* scalars;
  const calotype_plan_check* checks;
  const calotype_plan_value* values;
  const calotype_plan_workspace* workspace;
  const calotype_plan_function* functions;
  const calotype_plan_tensor* tensors;
  const uint32_t* slot_refs;  /* slots of the functions' scalars */
  const int32_t* buffer_refs; /* buffers of functions: an argument, or -1 - workspace */
  const uint32_t* steps;      /* functions in the order of their calls */
  uint32_t shape_check_count; /* how many of the checks, from the first, are on shapes alone */
  uint32_t argument_count, scalar_count, check_count, workspace_count, function_count, step_count;
  uint32_t stack_size, temp_count; /* scratch that the size expressions need */
  const calotype_plan_kept* kept;  /* each an owner of the cache, by its position */
  const calotype_code* keys;
  uint32_t kept_count;
} calotype_plan;

/* A compiled host function; not 0: it failed, 1 at a check of its own, 2 without memory. A scalar slot holds
 * an integer, or the bits of a float in its low part. */
typedef int (*calotype_host_function)(void* host_context, const int64_t* scalars, void* const* buffers);

/* What a device does for one call. Functions return CALOTYPE_GOOD, or fill the context's error and return its
 * kind. Work is in order. */
typedef struct calotype_device {
  void* state;
  /* `owner`: the input, output or Func that the memory is for. */
  calotype_error_kind (*allocate)(void* state, calotype_context* context, const char* owner, int64_t bytes,
                                  void** memory);
  void (*release)(void* state, void* memory);
  calotype_error_kind (*upload)(void* state, calotype_context* context, void* to, const void* from,
                                int64_t bytes);
  calotype_error_kind (*download)(void* state, calotype_context* context, void* to, const void* from,
                                  int64_t bytes);
  /* `scalars`, `buffers` and `tensors` are those of the function, in its order. */
  calotype_error_kind (*launch)(void* state, calotype_context* context, uint32_t function,
                                const uint32_t grid[3], const uint32_t block[3], const int64_t* scalars,
                                void* const* buffers, const calotype_tensor* tensors);
  calotype_error_kind (*finish)(void* state, calotype_context* context); /* waits for all of it */
  /* Whether the kernels, or if it says that it is the host's the copies, can have the memory of argument
   * `name`. Asked before anything is written. Null: any will do. */
  calotype_error_kind (*check_memory)(void* state, calotype_context* context, const char* name,
                                      const calotype_buffer* buffer);
  /* How many blocks of the function run at one time, at least 1. */
  calotype_error_kind (*resident)(void* state, calotype_context* context, uint32_t function,
                                  const uint32_t block[3], uint32_t* blocks);
} calotype_device;

/* The code behind a plan's functions. */
typedef struct calotype_plan_code {
  const calotype_host_function* host; /* one a function, null for kernels; may be null if all are */
  const calotype_device* device;      /* null without kernels */
  calotype_value_cache* cache;        /* null: every call computes what it could keep */
} calotype_plan_code;

/* Check the arguments, compute the scalars, check the conditions, then run the steps. Nothing is written
 * before all checks have passed. If no output has elements and the shapes fit the call is good and does
 * nothing. Buffers of a plan with kernels may be in host memory, which is copied in and out, or in device
 * memory; `finish` is called only if host memory was copied. Returns CALOTYPE_GOOD, or the kind of
 * `context->error`. */
calotype_error_kind calotype_plan_run(const calotype_plan* plan, const calotype_plan_code* code,
                                      calotype_context* context, const calotype_argument* arguments,
                                      uint32_t count);

/* As calotype_plan_run, but only the checks. */
calotype_error_kind calotype_plan_check_call(const calotype_plan* plan, calotype_context* context,
                                             const calotype_argument* arguments, uint32_t count);

/* The values of the scalars for arguments that passed the checks, one a slot: for choosing among variants of
 * code. */
calotype_error_kind calotype_plan_scalars(const calotype_plan* plan, calotype_context* context,
                                          const calotype_argument* arguments, uint32_t count, int64_t* slots);

#ifdef __cplusplus
}
#endif
