#pragma once
/* The C interface of the runtime: buffers. Plain C, no dependency on the compiler. */

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

enum { CALOTYPE_INT = 0, CALOTYPE_UINT = 1, CALOTYPE_FLOAT = 2, CALOTYPE_BFLOAT = 4 };

typedef struct calotype_type {
  uint8_t code; /* DLPack's type codes; a bool is CALOTYPE_UINT with 1 bit and takes a byte */
  uint8_t bits;
} calotype_type;

typedef struct calotype_buffer {
  void* data; /* the element at the smallest coordinates, in host memory (or device memory: `device`) */
  calotype_type type;
  int32_t rank;
  int32_t device; /* 0 host, 1 CUDA */
  calotype_dim dims[CALOTYPE_MAX_RANK];
} calotype_buffer;

#ifdef __cplusplus
}
#endif
