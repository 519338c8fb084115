#pragma once
/* The C interface of the runtime: buffers, arguments of a call, errors and the hooks a program may replace.
 * Plain C, no dependency on the compiler. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CALOTYPE_MAX_RANK = 8 };

typedef struct calotype_dim {
  int64_t min;    /* smallest coordinate */
  int64_t extent; /* number of coordinates, 0 or more */
  int64_t stride; /* elements from one coordinate to the next; any sign */
} calotype_dim;

enum {
  CALOTYPE_INT = 0,
  CALOTYPE_UINT = 1,
  CALOTYPE_FLOAT = 2,
  CALOTYPE_BFLOAT = 4,
  CALOTYPE_E4M3 = 10, /* without infinities */
  CALOTYPE_E5M2 = 12
};

typedef struct calotype_type {
  uint8_t code; /* DLPack's type codes; a bool is CALOTYPE_UINT with 1 bit and takes a byte */
  uint8_t bits;
} calotype_type;

typedef struct calotype_buffer {
  void* data; /* the element at the smallest coordinates, in host memory (or device memory: `device`) */
  calotype_type type;
  int32_t rank;
  int32_t device; /* 0 host, 1 + n: GPU n */
  calotype_dim dims[CALOTYPE_MAX_RANK];
} calotype_buffer;

/* One argument of a call: a buffer, or the value of a scalar (integers sign- or zero-extended, floats as the
 * bits of their own width in the low part). */
typedef struct calotype_argument {
  const calotype_buffer* buffer;
  int64_t scalar;
} calotype_argument;

/* Why a call was refused or failed. */
typedef enum calotype_error_kind {
  CALOTYPE_GOOD = 0,
  CALOTYPE_BAD_ARGUMENT = 1,  /* a buffer or scalar does not fit; nothing was written */
  CALOTYPE_CHECK_FAILED = 2,  /* compiled code stopped at a check of its own */
  CALOTYPE_OUT_OF_MEMORY = 3, /* host or device memory */
  CALOTYPE_NO_TARGET = 4,     /* a driver, device or library is missing or failed */
  CALOTYPE_INTERNAL = 5       /* a broken invariant */
} calotype_error_kind;

typedef struct calotype_error {
  calotype_error_kind kind;
  char func[64];     /* the input, output or Func concerned, or empty */
  char message[512]; /* one sentence */
  char value[128];   /* the offending value, or empty */
  char legal[256];   /* what would be legal, or empty */
} calotype_error;

/* Iterations [begin, end) of a parallel loop; not 0 stops it. */
typedef int (*calotype_parallel_body)(void* context, int64_t begin, int64_t end, void* closure);

/* The caller's side of a call, not shared between calls that run at the same time. All zero is a valid
 * context: null hooks mean aligned memory of the C library, serial loops (calotype::Kernel: oneTBB's) and no
 * report besides `error`, printed lines to stderr. The hooks for memory and `print` are called by all threads
 * of a parallel loop. */
typedef struct calotype_context {
  void* user;                                  /* passed to the hooks */
  void* (*allocate)(void* user, size_t bytes); /* aligned to 64 bytes; null: no memory */
  void (*release)(void* user, void* memory);
  int (*parallel_for)(void* user, calotype_parallel_body body, int64_t begin, int64_t end, void* closure);
  void (*failed)(void* user, const calotype_error* error); /* told once, after `error` is filled */
  void (*print)(void* user, const char* line); /* a line of print() in the algorithm, without its newline */
  void* host_context;   /* first argument of the plan's host functions; null: this context */
  calotype_error error; /* of the last call */
} calotype_context;

/* One call of a function that computes a box of a Func's values (calotype/extern.h). Each buffer covers a
 * box: its data is the element at the smallest coordinates, which `dims` says with extents and strides. */
typedef struct calotype_extern_call {
  void* user;                     /* of the ExternFunction */
  const calotype_buffer* outputs; /* one for each value of the Func, all of the same box */
  const calotype_buffer* inputs;  /* what is read, in the order of first use; not to be written */
  const calotype_argument* scalars;
  uint32_t output_count, input_count, scalar_count;
} calotype_extern_call;

/* Not 0: it failed, and the call ends. */
typedef int (*calotype_extern_function)(const calotype_extern_call* call);

/* Where lines go that no context takes: those of calls whose context has no `print`, and of the reference
 * evaluator. Null: to stderr, as at first. For the whole process; not while anything prints. */
void calotype_set_print(void (*print)(void* user, const char* line), void* user);

#ifdef __cplusplus
}
#endif
