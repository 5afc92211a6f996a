/* The greatest of small windows of a float32 plane: the rows of a window are joined into lines, over-reading what lies
 * after a row rather than dealing with its end, and windows of two or three columns are taken from these. Of small
 * planes all rows are one line, and what of a window lies in another row is corrected. NaN stays: planes with one are
 * found first, and take comparisons that see it. */
#pragma once

#include "compute/pool/pool_plane.h"

/* Whether the windows are two-dimensional, of 2 or 3 columns, and 1 or 2 columns apart, and the planes not huge and
 * either such that pool_is_same or of rows that are worth it. */
bool pool_maximum_fits(const PoolPlanes *p);
int64_t pool_maximum_scratch(const PoolPlanes *p); /* floats */
/* One plane. From `in` on `readable` floats can be read, the plane's at least. Before the first plane `scratch` holds
 * minus infinity. */
typedef void PoolMaximum(const PoolPlanes *p, const float *in, int64_t readable, float *out, float *scratch);
PoolMaximum pool_maximum_portable, pool_maximum_avx2, pool_maximum_avx512, pool_maximum_neon;

/* What its forms share: lines are joined in bands of several rows, so that what a band wrote is in the cache, and no
 * longer on its way there, when its columns are read. */
enum { POOL_WIDE = 16, POOL_BAND = 8 };
static inline int64_t pool_wide(int64_t n) {
  return (n + POOL_WIDE - 1) / POOL_WIDE * POOL_WIDE;
}
/* Windows of 3 x 3 around each element of a plane that is in the cache. */
static inline bool pool_is_same(const PoolPlanes *p) {
  enum { MOST_FLOATS = 4096 };
  for (int d = 1; d < 3; d++)
    if (p->kernel[d] != 3 || p->stride[d] != 1 || p->padding[d] != 1 || p->dilation[d] != 1 || p->in[d] != p->out[d])
      return false;
  return p->in[1] * p->in[2] <= MOST_FLOATS;
}
/* Floats from one line to the next: what is over-read of the input fits after the padding, and windows of the wide
 * rows of results reach no further. */
static inline int64_t pool_pitch(const PoolPlanes *p) {
  int64_t written = p->padding[2] + pool_wide(p->in[2]), read = pool_wide(p->out[2]) * p->stride[2] + p->kernel[2];
  return pool_wide(written > read ? written : read);
}
