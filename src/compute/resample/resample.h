/* Resampling along one dimension: each output is a weighted sum of a few inputs, its taps. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tensor/dtype.h"

typedef struct ResampleTaps {
  int64_t in, out, width; /* width: taps of each output */
  int64_t *index;         /* out * width */
  double *weight;
  float *single;   /* the same, for resample_float */
  int64_t *used;   /* of each output the taps before the unused, side by side; NULL: all, anywhere */
  bool rounds;     /* products and sums are rounded to bfloat16 */
  bool has_unused; /* weights of 0 are of no tap: what stands there is not looked at */
} ResampleTaps;

static inline double round_if(bool rounds, double x) {
  return rounds ? (double)bfloat16_round((float)x) : x;
}

/* One dimension of a plane seen as (before, size, after). transposed: from outputs to inputs, for gradients. */
void resample_double(const ResampleTaps *taps, bool transposed, int64_t before, int64_t after, const double *from,
                     double *to);
/* From inputs to outputs in float32, without `rounds`; without `used` of one, two or four taps. */
void resample_float(const ResampleTaps *taps, int64_t before, int64_t after, const float *from, float *to);
