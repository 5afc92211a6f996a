/* Sorting of one line of values, shared by the operators that order things. */
#pragma once

#include "op/op.h"

/* Sort keys: doubles or integers, whatever the element type (every dtype but complex fits one of them exactly). */
typedef struct SortKeys {
  bool floating;
  DType dtype; /* the elements' */
  int64_t length;
  union {
    double *f;
    int64_t *i;
  };
  int64_t *order; /* positions, in sorted order after sort_keys */
  int64_t *spare;
} SortKeys;

Status sort_keys_new(DType dtype, int64_t length, SortKeys *out) MUST_CHECK; /* complex: ERROR_RUNTIME */
void sort_keys_dispose(SortKeys *keys);
void sort_keys_load(SortKeys *keys, const char *data, int64_t byte_stride);
/* Stable merge sort of `order`; NaN counts as the greatest. */
void sort_keys_sort(SortKeys *keys, bool descending);
/* Of the keys at positions a and b. */
bool sort_keys_less(const SortKeys *keys, int64_t a, int64_t b);
bool sort_keys_equal(const SortKeys *keys, int64_t a, int64_t b);
/* Writes key `at` as an element. */
void sort_keys_store(const SortKeys *keys, int64_t at, char *to);
