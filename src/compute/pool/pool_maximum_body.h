/* pool_maximum.h for one instruction set. The including file defines NAME. Loops run over multiples of POOL_WIDE, so
 * that they have no rests. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "compute/pool/pool_maximum.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE float greater(float a, float b, bool may_be_nan) {
  return may_be_nan ? (a > b || a != a ? a : b) : a > b ? a : b;
}

/* By integers, whose maximum may be taken in any order. */
static bool has_nan(int64_t n, const float *x) {
  int32_t most = 0;
  for (int64_t i = 0; i < n; i++) {
    int32_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    bits &= 0x7fffffff;
    most = bits > most ? bits : most;
  }
  return most > 0x7f800000;
}

ALWAYS_INLINE void join_three(int64_t n, const float *a, const float *b, const float *c, float *to, bool may_be_nan) {
  for (int64_t i = 0; i < n; i++) to[i] = greater(greater(a[i], b[i], may_be_nan), c[i], may_be_nan);
}

/* The rows of the window of output row `row`, joined, after the padding of `line`; what lies after them is as if it
 * were not there. */
ALWAYS_INLINE void join_rows(const PoolPlanes *p, const float *in, int64_t readable, int64_t row, float *line,
                             bool may_be_nan) {
  int64_t width = p->in[2], first = row * p->stride[1] - p->padding[1], step = p->dilation[1], k = 0,
          end = p->kernel[1];
  while (k < end && first + k * step < 0) k++;
  while (k < end && first + (end - 1) * step >= p->in[1]) end--;
  float *to = line + p->padding[2];
  int64_t last = (p->out[2] - 1) * p->stride[2] + p->kernel[2];
  if (k == end) {
    for (int64_t i = 0; i < width; i++) to[i] = -INFINITY;
  } else {
    const float *rows[3], *joined = NULL;
    int64_t wide = pool_wide(width);
    if ((first + (end - 1) * step) * width + wide > readable) wide = width;
    while (k < end) { /* the first three, then two more each time; where there are fewer the last one again */
      int count = 0;
      if (joined) rows[count++] = joined;
      while (count < 3) {
        rows[count++] = in + (first + k * step) * width;
        if (k + 1 < end || count == 3) k++;
      }
      join_three(wide, rows[0], rows[1], rows[2], to, may_be_nan);
      joined = to;
    }
  }
  for (int64_t i = p->padding[2] + width; i < last; i++) line[i] = -INFINITY;
}

ALWAYS_INLINE void join_columns(int64_t n, const float *line, float *out, int columns, int stride, bool may_be_nan) {
  for (int64_t i = 0; i < n; i++) {
    float most = greater(line[i * stride], line[i * stride + 1], may_be_nan);
    out[i] = columns == 3 ? greater(most, line[i * stride + 2], may_be_nan) : most;
  }
}

ALWAYS_INLINE void pool_windows(const PoolPlanes *p, const float *in, int64_t readable, float *out, float *scratch,
                                int columns, int stride, bool may_be_nan) {
  int64_t pitch = pool_pitch(p), wide = pool_wide(p->out[2]), rows = p->out[1];
  float *tail = scratch + POOL_BAND * pitch;
  for (int64_t begin = 0; begin < rows; begin += POOL_BAND) {
    int64_t end = begin + POOL_BAND < rows ? begin + POOL_BAND : rows;
    for (int64_t row = begin; row < end; row++)
      join_rows(p, in, readable, row, scratch + (row - begin) * pitch, may_be_nan);
    for (int64_t row = begin; row < end; row++) { /* the next row's results overwrite what is too much */
      bool fits = row * p->out[2] + wide <= rows * p->out[2];
      join_columns(wide, scratch + (row - begin) * pitch, fits ? out + row * p->out[2] : tail, columns, stride,
                   may_be_nan);
      if (!fits) memcpy(out + row * p->out[2], tail, (size_t)p->out[2] * sizeof *out);
    }
  }
}

ALWAYS_INLINE void pool_same(int64_t height, int64_t width, const float *in, float *out, float *scratch,
                             bool may_be_nan) {
  int64_t n = height * width, rest = n - width;
  float *joined = scratch + 1; /* of rows; beside both ends is minus infinity */
  joined[-1] = joined[n] = -INFINITY;
  if (height == 1) {
    memcpy(joined, in, (size_t)n * sizeof *in);
  } else {
    for (int64_t i = 0; i < width; i++) joined[i] = greater(in[i], in[i + width], may_be_nan);
    for (int64_t i = width; i < rest; i++)
      joined[i] = greater(greater(in[i - width], in[i], may_be_nan), in[i + width], may_be_nan);
    for (int64_t i = rest; i < n; i++) joined[i] = greater(in[i - width], in[i], may_be_nan);
  }
  for (int64_t i = 0; i < n; i++)
    out[i] = greater(greater(joined[i - 1], joined[i], may_be_nan), joined[i + 1], may_be_nan);
  for (int64_t first = 0; first < n; first += width) { /* not what the rows before and after have there */
    int64_t last = first + width - 1;
    out[first] = width > 1 ? greater(joined[first], joined[first + 1], may_be_nan) : joined[first];
    if (width > 1) out[last] = greater(joined[last - 1], joined[last], may_be_nan);
  }
}

void NAME(const PoolPlanes *p, const float *in, int64_t readable, float *out, float *scratch) {
  assert(pool_maximum_fits(p) && readable >= p->in[1] * p->in[2]);
  bool may_be_nan = has_nan(p->in[1] * p->in[2], in);
  if (pool_is_same(p)) {
    if (may_be_nan)
      pool_same(p->in[1], p->in[2], in, out, scratch, true);
    else
      pool_same(p->in[1], p->in[2], in, out, scratch, false);
    return;
  }
  int form = (int)(p->kernel[2] == 3) * 2 + (int)(p->stride[2] == 2);
  if (may_be_nan) {
    pool_windows(p, in, readable, out, scratch, (int)p->kernel[2], (int)p->stride[2], true);
    return;
  }
  if (form == 0) pool_windows(p, in, readable, out, scratch, 2, 1, false);
  if (form == 1) pool_windows(p, in, readable, out, scratch, 2, 2, false);
  if (form == 2) pool_windows(p, in, readable, out, scratch, 3, 1, false);
  if (form == 3) pool_windows(p, in, readable, out, scratch, 3, 2, false);
}
