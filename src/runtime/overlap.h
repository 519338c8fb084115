#pragma once
/* The memory of strided buffers: whether two share it, how far one reaches, and copies of its elements. */

#include "calotype/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 1 if some element of `a` and some element of `b` share a byte, else 0. Exact for the layouts that arrays
 * have; where the search would be long it answers 1. Requires spans that fit 63 bits (the plan checks them
 * first). */
int calotype_overlap(const calotype_buffer* a, const calotype_buffer* b);

/* 1 if two different coordinates of `a` name the same memory. */
int calotype_overlaps_itself(const calotype_buffer* a);

/* Bytes from the lowest to past the highest element, and from the lowest element to `data`. Returns 1 if they
 * do not fit 63 bits. */
int calotype_span(const calotype_buffer* a, int64_t* bytes, int64_t* below);

/* Number of elements; 0 if an extent is 0. Saturates. */
int64_t calotype_elements(const calotype_buffer* a);

/* 1 if the elements fill their span. Requires a span that fits. */
int calotype_lies_together(const calotype_buffer* a);

/* Copy the elements out of an image of the span, at whose element at `data` `image` points, to `to`, which
 * lies likewise; what is between them stays. */
void calotype_scatter(const calotype_buffer* a, char* to, const char* image);

#ifdef __cplusplus
}
#endif
