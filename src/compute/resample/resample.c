#include "compute/resample/resample.h"

#include <assert.h>
#include <string.h>

void resample_double(const ResampleTaps *taps, bool transposed, int64_t before, int64_t behind, const double *from,
                     double *to) {
  assert(before >= 0 && behind >= 0);
  int64_t from_size = transposed ? taps->out : taps->in, to_size = transposed ? taps->in : taps->out;
  memset(to, 0, (size_t)(before * to_size * behind) * sizeof *to);
  for (int64_t b = 0; b < before; b++)
    for (int64_t o = 0; o < taps->out; o++)
      for (int64_t k = 0; k < taps->width; k++) {
        double w = taps->weight[o * taps->width + k];
        if (w == 0 && taps->has_unused) continue;
        int64_t i = taps->index[o * taps->width + k];
        const double *x = from + (b * from_size + (transposed ? o : i)) * behind;
        double *y = to + (b * to_size + (transposed ? i : o)) * behind;
        if (taps->rounds)
          for (int64_t e = 0; e < behind; e++) y[e] = round_if(true, y[e] + round_if(true, w * x[e]));
        else
          for (int64_t e = 0; e < behind; e++) y[e] += w * x[e];
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
static void many_along_other(const ResampleTaps *t, int64_t behind, const float *x, float *restrict y) {
  for (int64_t o = 0; o < t->out; o++, y += behind) {
    memset(y, 0, (size_t)behind * sizeof *y);
    for (int64_t k = 0; k < t->used[o]; k++) {
      const float w = t->single[o * t->width + k], *restrict row = x + t->index[o * t->width + k] * behind;
      for (int64_t e = 0; e < behind; e++) y[e] += w * row[e];
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

/* Another: whole runs of `behind` numbers. */
static void along_other(const ResampleTaps *t, int64_t behind, const float *x, float *y) {
  for (int64_t o = 0; o < t->out; o++, y += behind) {
    const int64_t *index = t->index + o * t->width;
    const float *w = t->single + o * t->width, *a = x + index[0] * behind;
    if (t->width == 1) {
      memcpy(y, a, (size_t)behind * sizeof *y);
      continue;
    }
    const float *b = x + index[1] * behind;
    if (t->width == 2) {
      for (int64_t e = 0; e < behind; e++) y[e] = w[0] * a[e] + w[1] * b[e];
      continue;
    }
    const float *c = x + index[2] * behind, *d = x + index[3] * behind;
    for (int64_t e = 0; e < behind; e++) y[e] = ((w[0] * a[e] + w[1] * b[e]) + w[2] * c[e]) + w[3] * d[e];
  }
}

void resample_float(const ResampleTaps *taps, int64_t before, int64_t behind, const float *from, float *to) {
  assert(!taps->rounds && (taps->used || taps->width == 1 || taps->width == 2 || taps->width == 4));
  for (int64_t b = 0; b < before; b++, from += taps->in * behind, to += taps->out * behind) {
    if (taps->used && behind == 1)
      many_along_last(taps, from, to);
    else if (taps->used)
      many_along_other(taps, behind, from, to);
    else if (behind == 1)
      along_last(taps, from, to);
    else
      along_other(taps, behind, from, to);
  }
}
