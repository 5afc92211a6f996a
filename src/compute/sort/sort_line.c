/* SortLine (sort.h): keys of any dtype, and the stable sort: by merging, or digit by digit where the line is long. */
#include "compute/sort/sort.h"

#include <assert.h>

#include "base/work_limit.h"

/* The memory is a storage, which is kept for the next one where it is large. */
Status sort_line_new(int64_t length, SortLine *out) {
  size_t bytes;
  *out = (SortLine){.length = length};
  if (!size_mul((size_t)length + 1, 2 * sizeof(Ranked), &bytes)) return status_out_of_memory();
  TRY(storage_new(bytes, &out->block));
  out->items = out->block->data;
  out->spare = out->items + length;
  return OK;
}

void sort_line_dispose(SortLine *line) {
  storage_release(line->block);
  *line = (SortLine){0};
}

/* A float's bits in the key's upper half order as well as the double's. */
static void keys_of_floats(const float *values, int64_t count, int64_t *keys) {
  for (int64_t i = 0; i < count; i++) {
    int32_t bits, nan = values[i] != values[i] ? -1 : 0, nonzero = values[i] != 0 ? -1 : 0;
    memcpy(&bits, &values[i], sizeof bits);
    uint32_t high = ((uint32_t)(bits ^ (int32_t)((uint32_t)(bits >> 31) >> 1)) & (uint32_t)nonzero) | (uint32_t)nan;
    keys[i] = (int64_t)((uint64_t)(high & ~((uint32_t)nan & 0x80000000u)) << 32 | (uint32_t)nan);
  }
}

void sort_keys(DType dtype, const char *data, int64_t byte_stride, int64_t count, int64_t *keys) {
  assert(count <= SORT_CHUNK);
  int64_t stride = byte_stride / (int64_t)dtype_size(dtype);
  if (dtype == DTYPE_FLOAT32) {
    float gathered[SORT_CHUNK];
    if (stride != 1) dtype_convert(dtype, gathered, 1, dtype, data, stride, count);
    keys_of_floats(stride == 1 ? (const float *)(const void *)data : gathered, count, keys);
  } else if (dtype_is_floating(dtype)) {
    double reals[SORT_CHUNK];
    dtype_convert(DTYPE_FLOAT64, reals, 1, dtype, data, stride, count);
    for (int64_t i = 0; i < count; i++) keys[i] = sort_key_of_double(reals[i]);
  } else {
    dtype_convert(DTYPE_INT64, keys, 1, dtype, data, stride, count);
    if (dtype == DTYPE_UINT64) /* the order of signed numbers */
      for (int64_t i = 0; i < count; i++) keys[i] ^= INT64_MIN;
  }
}

static int64_t chunk_at(const SortLine *line, int64_t begin) {
  return line->length - begin < SORT_CHUNK ? line->length - begin : SORT_CHUNK;
}

void sort_line_load(SortLine *line, DType dtype, const char *data, int64_t byte_stride, bool descending) {
  int64_t keys[SORT_CHUNK], flip = descending ? -1 : 0;
  for (int64_t begin = 0; begin < line->length; begin += SORT_CHUNK) {
    int64_t count = chunk_at(line, begin);
    sort_keys(dtype, data + begin * byte_stride, byte_stride, count, keys);
    for (int64_t i = 0; i < count; i++) line->items[begin + i] = (Ranked){keys[i] ^ flip, begin + i};
  }
}

void sort_line_load_least(SortLine *line, int64_t least, DType dtype, const char *data, int64_t byte_stride,
                          bool descending) {
  assert(least > 0 && least <= line->length);
  int64_t keys[SORT_CHUNK], flip = descending ? -1 : 0;
  for (int64_t begin = 0; begin < line->length; begin += SORT_CHUNK) {
    int64_t count = chunk_at(line, begin), i = 0;
    sort_keys(dtype, data + begin * byte_stride, byte_stride, count, keys);
    for (; i < count && begin + i < least; i++) {
      line->items[begin + i] = (Ranked){keys[i] ^ flip, begin + i};
      if (begin + i == least - 1) sort_heap_make(line->items, least);
    }
    for (; i < count; i++)
      if ((keys[i] ^ flip) < line->items[0].key)
        sort_heap_replace(line->items, least, (Ranked){keys[i] ^ flip, begin + i});
  }
  sort_heap_end(line->items, least);
}

static void merge(const Ranked *from, Ranked *to, int64_t begin, int64_t middle, int64_t end) {
  assert(begin <= middle && middle <= end);
  int64_t left = begin, right = middle;
  for (int64_t i = begin; i < end; i++) {
    bool take_right = left >= middle || (right < end && from[right].key < from[left].key);
    to[i] = take_right ? from[right++] : from[left++];
  }
}

static void swap_halves(SortLine *line) {
  Ranked *swap = line->items;
  line->items = line->spare;
  line->spare = swap;
}

static void sort_by_merging(SortLine *line) {
  int64_t done = 0;
  for (int64_t width = 1; width < line->length; width *= 2) {
    for (int64_t begin = 0; begin < line->length; begin += 2 * width) {
      if (work_is_over_after(&done, 2 * width)) return; /* the items are all there still */
      int64_t middle = begin + width < line->length ? begin + width : line->length;
      int64_t end = begin + 2 * width < line->length ? begin + 2 * width : line->length;
      merge(line->items, line->spare, begin, middle, end);
    }
    swap_halves(line);
  }
}

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, SHORT_LINE = 128 };

/* Digits of what a key is above the least, from the lowest digit on, without those that are zero in all keys. */
static void sort_by_digits(SortLine *line) {
  int64_t least = line->items[0].key, n = line->length;
  uint64_t bits = 0;
  for (int64_t i = 1; i < n; i++) least = line->items[i].key < least ? line->items[i].key : least;
  for (int64_t i = 0; i < n; i++) bits |= (uint64_t)line->items[i].key - (uint64_t)least;
  for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
    if ((bits >> shift & (DIGITS - 1)) == 0) continue;
    if (n > WORK_PER_LOOK && work_is_over()) return;
#define DIGIT(i) (((uint64_t)line->items[i].key - (uint64_t)least) >> shift & (DIGITS - 1))
    int64_t places[DIGITS] = {0}, place = 0;
    for (int64_t i = 0; i < n; i++) places[DIGIT(i)]++;
    for (int d = 0; d < DIGITS; d++) {
      int64_t count = places[d];
      places[d] = place;
      place += count;
    }
    for (int64_t i = 0; i < n; i++) line->spare[places[DIGIT(i)]++] = line->items[i];
#undef DIGIT
    swap_halves(line);
  }
}

void sort_stable(SortLine *line) {
  if (line->length < SHORT_LINE)
    sort_by_merging(line);
  else
    sort_by_digits(line);
}
