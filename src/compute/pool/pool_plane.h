/* Pooling of float32 planes by rows: the rows of a window are joined first, over their whole length, then what lies in
 * its columns, after the line was split by the remainders of its positions by the stride. */
#pragma once

#include "call/exec.h"

typedef struct PoolPlanes {
  int64_t planes;
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
  bool averages;          /* else the greatest; NaN if one is */
  bool count_include_pad; /* what an average is divided by */
  int64_t divisor;        /* the same; 0: what the window covers */
} PoolPlanes;

/* All planes, row-major and dense. */
Status pool_planes_run(const Exec *exec, const PoolPlanes *p, const float *in, float *out) MUST_CHECK;
