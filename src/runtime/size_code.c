/* The interpreter of size expressions. */

#include "runtime/size_code.h"

#include <string.h>

static int64_t floor_div(int64_t a, int64_t b, int64_t* overflow) {
  if (b == 0) return 0;
  if (b == -1) {
    int64_t result;
    *overflow |= __builtin_sub_overflow((int64_t)0, a, &result);
    return result;
  }
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t euclidean_mod(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  int64_t rest = a % b;
  if (rest >= 0) return rest;
  return (int64_t)((uint64_t)rest + (b < 0 ? 0 - (uint64_t)b : (uint64_t)b));
}

static int64_t wrap(int64_t value, int64_t width) {
  int bits = (int)(width < 0 ? -width : width);
  if (bits >= 64) return value;
  uint64_t raised = (uint64_t)value << (64 - bits);
  return width < 0 ? (int64_t)raised >> (64 - bits) : (int64_t)(raised >> (64 - bits));
}

static int64_t from_double(double value) {
  if (value != value) return 0;
  if (value >= 0x1p63) return INT64_MAX;
  if (value <= -0x1p63) return INT64_MIN;
  return (int64_t)value;
}

static int64_t from_float_bits(int64_t bits, int wide) {
  if (wide) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return from_double(value);
  }
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return from_double(value);
}

/* An `and` that is false, or an `or` that is true, on one side is decided whatever the other side is. */
static calotype_cell logic(calotype_cell a, calotype_cell b, int decided_by) {
  calotype_cell decided = {decided_by, 0}, open = {!decided_by, a.overflow | b.overflow};
  if (!a.overflow && (a.value != 0) == decided_by) return decided;
  if (!b.overflow && (b.value != 0) == decided_by) return decided;
  return open;
}

static calotype_cell binary(int32_t opcode, calotype_cell a, calotype_cell b) {
  calotype_cell result = {0, a.overflow | b.overflow};
  switch (opcode) {
    case CALOTYPE_OP_ADD:
      result.overflow |= __builtin_add_overflow(a.value, b.value, &result.value);
      break;
    case CALOTYPE_OP_SUB:
      result.overflow |= __builtin_sub_overflow(a.value, b.value, &result.value);
      break;
    case CALOTYPE_OP_MUL:
      result.overflow |= __builtin_mul_overflow(a.value, b.value, &result.value);
      break;
    case CALOTYPE_OP_DIV:
      result.value = floor_div(a.value, b.value, &result.overflow);
      break;
    case CALOTYPE_OP_MOD:
      result.value = euclidean_mod(a.value, b.value);
      break;
    case CALOTYPE_OP_MIN:
      result.value = b.value < a.value ? b.value : a.value;
      break;
    case CALOTYPE_OP_MAX:
      result.value = a.value < b.value ? b.value : a.value;
      break;
    case CALOTYPE_OP_EQ:
      result.value = a.value == b.value;
      break;
    case CALOTYPE_OP_NE:
      result.value = a.value != b.value;
      break;
    case CALOTYPE_OP_LT:
      result.value = a.value < b.value;
      break;
    case CALOTYPE_OP_LE:
      result.value = a.value <= b.value;
      break;
    case CALOTYPE_OP_AND:
      return logic(a, b, 0);
    default:
      return logic(a, b, 1); /* CALOTYPE_OP_OR */
  }
  return result;
}

static calotype_cell select_cell(calotype_cell condition, calotype_cell then_case, calotype_cell else_case) {
  calotype_cell chosen = condition.value ? then_case : else_case;
  chosen.overflow |= condition.overflow;
  return chosen;
}

/* An operand that is there already; 0: it has to be computed. */
static int leaf(const calotype_op* op, const int64_t* slots, calotype_cell* value) {
  value->overflow = 0;
  value->value = op->opcode == CALOTYPE_OP_CONST ? op->value : 0;
  if (op->opcode == CALOTYPE_OP_SLOT) value->value = slots[op->value];
  return op->opcode == CALOTYPE_OP_CONST || op->opcode == CALOTYPE_OP_SLOT;
}

static int is_binary(int32_t opcode) { return opcode >= CALOTYPE_OP_ADD && opcode <= CALOTYPE_OP_OR; }

int calotype_evaluate(const calotype_op* ops, calotype_code code, const int64_t* slots, calotype_cell* stack,
                      calotype_cell* temps, int64_t* result) {
  uint32_t top = 0; /* cells in use */
  calotype_cell a, b;
  /* Most conditions compare two sizes, and most extents are one. */
  if (code.count == 1 && leaf(&ops[code.first], slots, &a)) {
    *result = a.value;
    return 0;
  }
  if (code.count == 3 && is_binary(ops[code.first + 2].opcode) && leaf(&ops[code.first], slots, &a) &&
      leaf(&ops[code.first + 1], slots, &b)) {
    a = binary(ops[code.first + 2].opcode, a, b);
    *result = a.value;
    return a.overflow != 0;
  }
  for (const calotype_op* op = ops + code.first; op != ops + code.first + code.count; ++op) {
    switch (op->opcode) {
      case CALOTYPE_OP_CONST:
        stack[top++] = (calotype_cell){op->value, 0};
        break;
      case CALOTYPE_OP_SLOT:
        stack[top++] = (calotype_cell){slots[op->value], 0};
        break;
      case CALOTYPE_OP_TEMP:
        stack[top++] = temps[op->value];
        break;
      case CALOTYPE_OP_SET_TEMP:
        temps[op->value] = stack[--top];
        break;
      case CALOTYPE_OP_NOT:
        stack[top - 1].value = stack[top - 1].value == 0;
        break;
      case CALOTYPE_OP_WRAP:
        stack[top - 1].value = wrap(stack[top - 1].value, op->value);
        break;
      case CALOTYPE_OP_FROM_F32:
        stack[top - 1].value = from_float_bits(stack[top - 1].value, 0);
        break;
      case CALOTYPE_OP_FROM_F64:
        stack[top - 1].value = from_float_bits(stack[top - 1].value, 1);
        break;
      case CALOTYPE_OP_SELECT:
        top -= 2;
        stack[top - 1] = select_cell(stack[top - 1], stack[top], stack[top + 1]);
        break;
      default:
        --top;
        stack[top - 1] = binary(op->opcode, stack[top - 1], stack[top]);
    }
  }
  *result = stack[0].value;
  return stack[0].overflow != 0;
}
