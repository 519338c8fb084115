/* Two buffers overlap where the difference of two element addresses is small: a bounded integer equation
 *   distance + sum over strides of d_i * stride_i  in  (-size_a, size_b),   low_i <= d_i <= high_i
 * in which d_i is the difference of the coordinates along that stride. With strides taken from large to
 * small, what the smaller ones can still reach leaves one or two candidates for each d_i in ordinary layouts.
 */

#include "runtime/overlap.h"

#include <string.h>

#include "runtime/context.h"

typedef __int128 wide;

typedef struct term {
  int64_t stride; /* bytes, positive */
  int64_t low, high;
} term;

typedef struct equation {
  term terms[2 * CALOTYPE_MAX_RANK]; /* strides descending, distinct */
  int count;
  int64_t size_a, size_b;
  int not_all_zero;
  int budget; /* candidates that may still be tried */
} equation;

int64_t calotype_elements(const calotype_buffer* a) {
  int64_t total = 1;
  int overflow = 0;
  for (int d = 0; d < a->rank; ++d) {
    if (a->dims[d].extent == 0) return 0;
    overflow |= __builtin_mul_overflow(total, a->dims[d].extent, &total);
  }
  return overflow ? INT64_MAX : total;
}

int calotype_span(const calotype_buffer* a, int64_t* bytes, int64_t* below) {
  const int64_t size = calotype_type_bytes(a->type);
  int64_t low = 0, high = 0; /* bytes, from the first element */
  int overflow = 0;
  *bytes = *below = 0;
  if (calotype_elements(a) == 0) return 0;
  for (int d = 0; d < a->rank; ++d) {
    int64_t reach;
    overflow |= __builtin_mul_overflow(a->dims[d].extent - 1, a->dims[d].stride, &reach);
    overflow |= __builtin_mul_overflow(reach, size, &reach);
    overflow |= __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high);
  }
  overflow |= __builtin_sub_overflow(high, low, &high) | __builtin_add_overflow(high, size, &high);
  if (overflow) return 1;
  *bytes = high;
  *below = -low;
  return 0;
}

static void add_term(equation* e, int64_t stride, int64_t low, int64_t high) {
  int at = 0;
  while (at < e->count && e->terms[at].stride > stride) ++at;
  if (at < e->count && e->terms[at].stride == stride) {
    e->terms[at].low += low;
    e->terms[at].high += high;
    return;
  }
  for (int i = e->count; i > at; --i) e->terms[i] = e->terms[i - 1];
  e->terms[at] = (term){stride, low, high};
  ++e->count;
}

/* The dimensions of a buffer as terms; `sign` -1 for the buffer that is subtracted. */
static void add_terms(equation* e, const calotype_buffer* a, int sign) {
  for (int d = 0; d < a->rank; ++d) {
    int64_t reach = a->dims[d].extent - 1, stride = a->dims[d].stride * calotype_type_bytes(a->type) * sign;
    if (reach == 0 || stride == 0) continue;
    add_term(e, stride < 0 ? -stride : stride, stride < 0 ? -reach : 0, stride < 0 ? 0 : reach);
  }
}

static wide floor_of(wide a, int64_t b) { return a / b - (a % b != 0 && a < 0); }

/* Can terms from `i` on bring `distance` into the open interval (-size_a, size_b)? */
static int solvable(equation* e, int i, wide distance, int nonzero) {
  if (i == e->count) {
    return distance > -(wide)e->size_a && distance < (wide)e->size_b && (nonzero || !e->not_all_zero);
  }
  wide least = 0, most = 0;
  for (int j = i + 1; j < e->count; ++j) {
    least += (wide)e->terms[j].low * e->terms[j].stride;
    most += (wide)e->terms[j].high * e->terms[j].stride;
  }
  const term t = e->terms[i];
  /* -size_a < distance + d * stride + rest < size_b for some rest in [least, most] */
  wide low = -floor_of(distance + most + e->size_a - 1, t.stride);
  wide high = floor_of((wide)e->size_b - 1 - distance - least, t.stride);
  if (low < t.low) low = t.low;
  if (high > t.high) high = t.high;
  for (wide d = low; d <= high; ++d) {
    if (--e->budget < 0) return 1;
    if (solvable(e, i + 1, distance + d * t.stride, nonzero || d != 0)) return 1;
  }
  return 0;
}

int calotype_overlap(const calotype_buffer* a, const calotype_buffer* b) {
  if (a->device != b->device || calotype_elements(a) == 0 || calotype_elements(b) == 0) return 0;
  equation e = {
      .size_a = calotype_type_bytes(a->type), .size_b = calotype_type_bytes(b->type), .budget = 100000};
  add_terms(&e, a, 1);
  add_terms(&e, b, -1);
  return solvable(&e, 0, (wide)(uintptr_t)a->data - (wide)(uintptr_t)b->data, 0);
}

/* Whether each stride steps over all that the dimensions of smaller strides reach, as in a dense layout with
 * its smallest strides first: then no two coordinates meet. */
static int nested(const calotype_buffer* a) {
  wide reach = 0; /* elements, from the first to the last */
  for (int d = 0; d < a->rank; ++d) {
    const wide stride = a->dims[d].stride < 0 ? -(wide)a->dims[d].stride : a->dims[d].stride;
    if (a->dims[d].extent <= 1) continue;
    if (stride <= reach) return 0;
    reach += (a->dims[d].extent - 1) * stride;
  }
  return 1;
}

int calotype_overlaps_itself(const calotype_buffer* a) {
  equation e = {.size_a = calotype_type_bytes(a->type), .not_all_zero = 1, .budget = 100000};
  e.size_b = e.size_a;
  if (calotype_elements(a) == 0 || nested(a)) return 0;
  for (int d = 0; d < a->rank; ++d) {
    int64_t reach = a->dims[d].extent - 1, stride = a->dims[d].stride * e.size_a;
    if (reach == 0) continue;
    if (stride == 0) return 1;
    stride = stride < 0 ? -stride : stride;
    for (int i = 0; i < e.count; ++i) {
      if (e.terms[i].stride == stride) return 1;
    }
    add_term(&e, stride, -reach, reach);
  }
  return solvable(&e, 0, 0, 0);
}

int calotype_lies_together(const calotype_buffer* a) {
  int64_t bytes, below;
  return calotype_span(a, &bytes, &below) == 0 &&
         bytes == calotype_elements(a) * calotype_type_bytes(a->type);
}

static void scatter(const calotype_buffer* b, int d, char* to, const char* image) {
  const int64_t size = calotype_type_bytes(b->type);
  if (d < 0 || (d == 0 && b->dims[0].stride == 1)) {
    memcpy(to, image, (size_t)(d < 0 ? size : b->dims[0].extent * size));
    return;
  }
  for (int64_t i = 0; i < b->dims[d].extent; ++i) {
    const int64_t offset = i * b->dims[d].stride * size;
    scatter(b, d - 1, to + offset, image + offset);
  }
}

void calotype_scatter(const calotype_buffer* a, char* to, const char* image) {
  scatter(a, a->rank - 1, to, image);
}
