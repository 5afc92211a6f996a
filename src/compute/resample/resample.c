#include "compute/resample/resample.h"

#include <assert.h>
#include <string.h>

void resample_double(const ResampleTaps *taps, bool transposed, int64_t before, int64_t after, const double *from,
                     double *to) {
  assert(before >= 0 && after >= 0);
  int64_t from_size = transposed ? taps->out : taps->in, to_size = transposed ? taps->in : taps->out;
  memset(to, 0, (size_t)(before * to_size * after) * sizeof *to);
  for (int64_t b = 0; b < before; b++)
    for (int64_t o = 0; o < taps->out; o++)
      for (int64_t k = 0; k < taps->width; k++) {
        double w = taps->weight[o * taps->width + k];
        if (w == 0 && taps->has_unused) continue;
        int64_t i = taps->index[o * taps->width + k];
        const double *x = from + (b * from_size + (transposed ? o : i)) * after;
        double *y = to + (b * to_size + (transposed ? i : o)) * after;
        if (taps->rounds)
          for (int64_t e = 0; e < after; e++) y[e] = round_if(true, y[e] + round_if(true, w * x[e]));
        else
          for (int64_t e = 0; e < after; e++) y[e] += w * x[e];
      }
}

/* ---- float32 ---- */

/* The last dimension: one number for each output; width is constant where this is inlined. */
static inline __attribute__((always_inline)) void line(const int64_t width, int64_t count, const int64_t *index,
                                                       const float *weight, const float *x, float *y) {
  for (int64_t o = 0; o < count; o++, index += width, weight += width) {
    float sum = weight[0] * x[index[0]];
    for (int64_t k = 1; k < width; k++) sum += weight[k] * x[index[k]];
    y[o] = sum;
  }
}
/* Of many taps side by side: four sums, as wide as a vector. */
typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
static float sum_of_products(const float *w, const float *x, int64_t n) {
  Four sums = {0};
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) sums += *(const Four *)(w + k) * *(const Four *)(x + k);
  float sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  for (; k < n; k++) sum += w[k] * x[k];
  return sum;
}
static void many_along_last(const ResampleTaps *t, const float *x, float *y) {
  for (int64_t o = 0; o < t->out; o++)
    y[o] = sum_of_products(t->single + o * t->width, x + t->index[o * t->width], t->used[o]);
}
static void many_along_other(const ResampleTaps *t, int64_t after, const float *x, float *restrict y) {
  for (int64_t o = 0; o < t->out; o++, y += after) {
    memset(y, 0, (size_t)after * sizeof *y);
    for (int64_t k = 0; k < t->used[o]; k++) {
      const float w = t->single[o * t->width + k], *restrict row = x + t->index[o * t->width + k] * after;
      for (int64_t e = 0; e < after; e++) y[e] += w * row[e];
    }
  }
}

static void along_last(const ResampleTaps *t, const float *x, float *y) {
  if (t->width == 1)
    for (int64_t o = 0; o < t->out; o++) y[o] = x[t->index[o]];
  else if (t->width == 2)
    line(2, t->out, t->index, t->single, x, y);
  else
    line(4, t->out, t->index, t->single, x, y);
}

/* Another: whole runs of `after` numbers. */
static void along_other(const ResampleTaps *t, int64_t after, const float *x, float *y) {
  for (int64_t o = 0; o < t->out; o++, y += after) {
    const int64_t *index = t->index + o * t->width;
    const float *w = t->single + o * t->width, *a = x + index[0] * after;
    if (t->width == 1) {
      memcpy(y, a, (size_t)after * sizeof *y);
      continue;
    }
    const float *b = x + index[1] * after;
    if (t->width == 2) {
      for (int64_t e = 0; e < after; e++) y[e] = w[0] * a[e] + w[1] * b[e];
      continue;
    }
    const float *c = x + index[2] * after, *d = x + index[3] * after;
    for (int64_t e = 0; e < after; e++) y[e] = ((w[0] * a[e] + w[1] * b[e]) + w[2] * c[e]) + w[3] * d[e];
  }
}

void resample_float(const ResampleTaps *taps, int64_t before, int64_t after, const float *from, float *to) {
  assert(!taps->rounds && (taps->used || taps->width == 1 || taps->width == 2 || taps->width == 4));
  for (int64_t b = 0; b < before; b++, from += taps->in * after, to += taps->out * after) {
    if (taps->used && after == 1)
      many_along_last(taps, from, to);
    else if (taps->used)
      many_along_other(taps, after, from, to);
    else if (after == 1)
      along_last(taps, from, to);
    else
      along_other(taps, after, from, to);
  }
}
