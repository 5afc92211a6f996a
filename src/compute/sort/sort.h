/* Sorting and selecting in one line of values, shared by the operators that order things. What the unstable functions
 * do with equal values is part of PyTorch's results: they take the steps of C++'s std::sort, std::nth_element and
 * std::partial_sort as libstdc++ has them (introsort: D. Musser, Introspective Sorting and Selection Algorithms, 1997).
 */
#pragma once

#include "call/operator.h"

typedef struct Ranked {
  int64_t key;      /* in the order wanted */
  int64_t position; /* in the line */
} Ranked;
static inline void swap_items(Ranked *a, Ranked *b) {
  Ranked kept = *a;
  *a = *b;
  *b = kept;
}

/* The line's values as keys: integers, or the bits of doubles made to order like integers, both zeros alike and NaN
 * above all; inverted for descending order. */
typedef struct SortLine {
  Ranked *items, *spare;
  int64_t length;
} SortLine;

#define SORT_KEY_NAN INT64_MAX /* of floating values, ascending */

Status sort_line_new(int64_t length, SortLine *out) MUST_CHECK;
void sort_line_dispose(SortLine *line);
/* Values of any dtype but complex. */
void sort_line_load(SortLine *line, DType dtype, const char *data, int64_t byte_stride, bool descending);

void sort_stable(SortLine *line);
void sort_unstable(Ranked *items, int64_t count);
/* The item of rank `nth` goes to its place, smaller ones before it. */
void sort_select(Ranked *items, int64_t nth, int64_t count);
/* The first `middle` items are the smallest, in order. */
void sort_partial(Ranked *items, int64_t middle, int64_t count);
