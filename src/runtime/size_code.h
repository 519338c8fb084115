#pragma once
/* Size expressions as constant data: postfix code over 64-bit slots. Extents, strides, scalars, grids,
 * workspace sizes and the conditions of checks are all computed with it at each call. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Binary operations take the left operand from below the right one. Division floors, the remainder is never
 * negative, division by 0 gives 0. Comparisons and logic give 0 or 1. */
typedef enum calotype_opcode {
  CALOTYPE_OP_CONST,    /* push value */
  CALOTYPE_OP_SLOT,     /* push slot number `value` */
  CALOTYPE_OP_TEMP,     /* push temporary number `value` */
  CALOTYPE_OP_SET_TEMP, /* pop into temporary number `value` */
  CALOTYPE_OP_ADD,
  CALOTYPE_OP_SUB,
  CALOTYPE_OP_MUL,
  CALOTYPE_OP_DIV,
  CALOTYPE_OP_MOD,
  CALOTYPE_OP_MIN,
  CALOTYPE_OP_MAX,
  CALOTYPE_OP_EQ,
  CALOTYPE_OP_NE,
  CALOTYPE_OP_LT,
  CALOTYPE_OP_LE,
  CALOTYPE_OP_AND,
  CALOTYPE_OP_OR,
  CALOTYPE_OP_NOT,
  CALOTYPE_OP_SELECT,   /* condition, then, else */
  CALOTYPE_OP_WRAP,     /* to |value| bits, signed where value < 0 */
  CALOTYPE_OP_FROM_F32, /* bits of a float to the integer it truncates to, saturating, NaN to 0 */
  CALOTYPE_OP_FROM_F64
} calotype_opcode;

typedef struct calotype_op {
  int32_t opcode;
  int64_t value;
} calotype_op;

/* A run of a plan's operations that leaves one value. */
typedef struct calotype_code {
  uint32_t first, count;
} calotype_code;

/* A value on the way: `overflow` marks one that left 64 bits; it matters only where it reaches the result. */
typedef struct calotype_cell {
  int64_t value;
  int64_t overflow;
} calotype_cell;

/* Run the code; `stack` and `temps` are scratch, as large as the encoder found they must be. Returns 0, or 1
 * if the result left 64 bits. */
int calotype_evaluate(const calotype_op* ops, calotype_code code, const int64_t* slots, calotype_cell* stack,
                      calotype_cell* temps, int64_t* result);

#ifdef __cplusplus
}
#endif
