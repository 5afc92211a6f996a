/* SortKeys (sort.h): a stable merge sort of positions by key. */
#include "op/sort.h"

#include <math.h>

Status sort_keys_new(DType dtype, int64_t length, SortKeys *out) {
  *out = (SortKeys){.floating = dtype_is_floating(dtype), .dtype = dtype, .length = length};
  if (dtype_is_complex(dtype))
    return status_new(ERROR_RUNTIME, "Sort currently does not support complex dtypes on CPU");
  size_t n = length > 0 ? (size_t)length : 1;
  out->i = mem_calloc(n, sizeof(int64_t));
  out->order = mem_calloc(n, sizeof(int64_t));
  out->spare = mem_calloc(n, sizeof(int64_t));
  if (out->i && out->order && out->spare) return OK;
  sort_keys_dispose(out);
  return status_out_of_memory();
}

void sort_keys_dispose(SortKeys *keys) {
  mem_free(keys->i);
  mem_free(keys->order);
  mem_free(keys->spare);
  *keys = (SortKeys){0};
}

void sort_keys_load(SortKeys *keys, const char *data, int64_t byte_stride) {
  dtype_convert(keys->floating ? DTYPE_FLOAT64 : DTYPE_INT64, keys->i, 1, keys->dtype, data,
                byte_stride / (int64_t)dtype_size(keys->dtype), keys->length);
  for (int64_t i = 0; i < keys->length; i++) keys->order[i] = i;
}

bool sort_keys_less(const SortKeys *keys, int64_t a, int64_t b) {
  if (!keys->floating) return keys->i[a] < keys->i[b];
  double x = keys->f[a], y = keys->f[b];
  return x < y || (isnan(y) && !isnan(x));
}

bool sort_keys_equal(const SortKeys *keys, int64_t a, int64_t b) {
  return keys->floating ? keys->f[a] == keys->f[b] : keys->i[a] == keys->i[b];
}

static void merge(const SortKeys *keys, const int64_t *from, int64_t *to, int64_t begin, int64_t middle, int64_t end,
                  bool descending) {
  int64_t left = begin, right = middle;
  for (int64_t i = begin; i < end; i++) {
    bool take_right = left >= middle || (right < end && (descending ? sort_keys_less(keys, from[left], from[right])
                                                                    : sort_keys_less(keys, from[right], from[left])));
    to[i] = take_right ? from[right++] : from[left++];
  }
}

void sort_keys_sort(SortKeys *keys, bool descending) {
  for (int64_t width = 1; width < keys->length; width *= 2) {
    for (int64_t begin = 0; begin < keys->length; begin += 2 * width) {
      int64_t middle = begin + width < keys->length ? begin + width : keys->length;
      int64_t end = begin + 2 * width < keys->length ? begin + 2 * width : keys->length;
      merge(keys, keys->order, keys->spare, begin, middle, end, descending);
    }
    int64_t *swap = keys->order;
    keys->order = keys->spare;
    keys->spare = swap;
  }
}

void sort_keys_store(const SortKeys *keys, int64_t at, char *to) {
  dtype_convert(keys->dtype, to, 1, keys->floating ? DTYPE_FLOAT64 : DTYPE_INT64, &keys->i[at], 1, 1);
}
