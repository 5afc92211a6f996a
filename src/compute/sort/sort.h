/* Sorting and selecting in one line of values, shared by the operators that order things. What the unstable functions
 * do with equal values is part of PyTorch's results: they take the steps of C++'s std::sort, std::nth_element and
 * std::partial_sort as libstdc++ has them (introsort: D. Musser, Introspective Sorting and Selection Algorithms, 1997).
 */
#pragma once

#include "tensor/tensor.h"

typedef struct Ranked {
  int64_t key;      /* in the order wanted */
  int64_t position; /* in the line */
} Ranked;
static inline void swap_items(Ranked *a, Ranked *b) {
  Ranked kept = *a;
  *a = *b;
  *b = kept;
}

/* A value as a key: an integer, or the bits of a double or float made to order like integers, both zeros alike and NaN
 * above all. */
#define SORT_KEY_NAN INT64_MAX
static inline int64_t sort_key_of_double(double value) {
  int64_t bits, key;
  memcpy(&bits, &value, sizeof bits);
  key = bits ^ (int64_t)((uint64_t)(bits >> 63) >> 1);
  key = value == 0 ? 0 : key;
  return value != value ? SORT_KEY_NAN : key;
}
/* Of up to SORT_CHUNK values of any dtype but complex. */
enum { SORT_CHUNK = 256 };
void sort_keys(DType dtype, const char *data, int64_t byte_stride, int64_t count, int64_t *keys);

typedef struct SortLine {
  Storage *block;
  Ranked *items, *spare;
  int64_t length;
} SortLine;

Status sort_line_new(int64_t length, SortLine *out) MUST_CHECK;
void sort_line_dispose(SortLine *line);
/* Keys and positions of all values; the keys inverted for descending order. */
void sort_line_load(SortLine *line, DType dtype, const char *data, int64_t byte_stride, bool descending);
/* Instead: the `least` smallest alone, in order, as sort_partial has them. */
void sort_line_load_least(SortLine *line, int64_t least, DType dtype, const char *data, int64_t byte_stride,
                          bool descending);

void sort_stable(SortLine *line);
void sort_unstable(Ranked *items, int64_t count);
/* The item of rank `nth` goes to its place, smaller ones before it. */
void sort_select(Ranked *items, int64_t nth, int64_t count);
/* The first `middle` items are the smallest, in order. */
void sort_partial(Ranked *items, int64_t middle, int64_t count);

/* A heap of the smallest so far, the greatest of them first: made, one replaced, and at the end put in order. */
void sort_heap_make(Ranked *heap, int64_t count);
void sort_heap_replace(Ranked *heap, int64_t count, Ranked item);
void sort_heap_end(Ranked *heap, int64_t count);

/* A line in which values are looked up. */
typedef struct SortEdges {
  const int64_t *keys;
  const int64_t *order; /* where the first, the second ... are, or NULL: as they stand */
  int64_t length;
  bool sorted; /* the keys are in order as they stand */
} SortEdges;
bool sort_is_sorted(const int64_t *keys, int64_t count);
/* For each of `count` keys the first place whose edge is not below it (right: whose edge is above it). */
void sort_search(const SortEdges *e, int64_t count, const int64_t *values, bool right, int64_t *places);
