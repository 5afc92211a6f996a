/* Pooling of float32 planes by rows: the rows of a window are joined first, over their whole length, then what lies in
 * its columns, after the line was split by the remainders of its positions by the stride. */
#pragma once

#include "base/work.h"

typedef struct PoolPlanes {
  int64_t planes;
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
  bool averages;          /* else the greatest; NaN if one is */
  bool count_include_pad; /* what an average is divided by */
  int64_t divisor;        /* the same; 0: what the window covers */
} PoolPlanes;

/* Which taps of the window of result o lie in the input. */
typedef struct PoolTaps {
  int64_t begin, end;
} PoolTaps;
static inline PoolTaps pool_taps(const PoolPlanes *p, int d, int64_t o) {
  int64_t first = o * p->stride[d] - p->padding[d], step = p->dilation[d], begin = 0, end = p->kernel[d];
  if (first < 0) begin = (-first + step - 1) / step;
  if (first + (end - 1) * step >= p->in[d]) end = p->in[d] > first ? (p->in[d] - 1 - first) / step + 1 : 0;
  return (PoolTaps){begin, end};
}

/* All planes, row-major and dense. */
Status pool_planes_run(const Work *work, const PoolPlanes *p, const float *in, float *out) MUST_CHECK;
