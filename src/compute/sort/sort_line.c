/* SortLine (sort.h): keys of any dtype, and the stable merge sort. */
#include "compute/sort/sort.h"

#include <assert.h>

Status sort_line_new(int64_t length, SortLine *out) {
  size_t n = length > 0 ? (size_t)length : 1;
  *out = (SortLine){mem_calloc(n, sizeof(Ranked)), mem_calloc(n, sizeof(Ranked)), length};
  if (out->items && out->spare) return OK;
  sort_line_dispose(out);
  return status_out_of_memory();
}

void sort_line_dispose(SortLine *line) {
  mem_free(line->items);
  mem_free(line->spare);
  *line = (SortLine){0};
}

static int64_t key_of_double(double value) {
  if (value != value) return SORT_KEY_NAN;
  if (value == 0) return 0;
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

void sort_line_load(SortLine *line, DType dtype, const char *data, int64_t byte_stride, bool descending) {
  enum { CHUNK = 256 };
  union {
    double f[CHUNK];
    int64_t i[CHUNK];
  } values;
  bool floating = dtype_is_floating(dtype);
  for (int64_t begin = 0; begin < line->length; begin += CHUNK) {
    int64_t count = line->length - begin < CHUNK ? line->length - begin : CHUNK;
    dtype_convert(floating ? DTYPE_FLOAT64 : DTYPE_INT64, &values, 1, dtype, data + begin * byte_stride,
                  byte_stride / (int64_t)dtype_size(dtype), count);
    for (int64_t i = 0; i < count; i++) {
      int64_t key = floating ? key_of_double(values.f[i]) : values.i[i];
      line->items[begin + i] = (Ranked){descending ? ~key : key, begin + i};
    }
  }
}

static void merge(const Ranked *from, Ranked *to, int64_t begin, int64_t middle, int64_t end) {
  assert(begin <= middle && middle <= end);
  int64_t left = begin, right = middle;
  for (int64_t i = begin; i < end; i++) {
    bool take_right = left >= middle || (right < end && from[right].key < from[left].key);
    to[i] = take_right ? from[right++] : from[left++];
  }
}

void sort_stable(SortLine *line) {
  int64_t done = 0;
  for (int64_t width = 1; width < line->length; width *= 2) {
    for (int64_t begin = 0; begin < line->length; begin += 2 * width) {
      if (work_is_over_after(&done, 2 * width)) return; /* the items are all there still */
      int64_t middle = begin + width < line->length ? begin + width : line->length;
      int64_t end = begin + 2 * width < line->length ? begin + 2 * width : line->length;
      merge(line->items, line->spare, begin, middle, end);
    }
    Ranked *swap = line->items;
    line->items = line->spare;
    line->spare = swap;
  }
}
