/* Batch normalization by stored statistics, for the operators that do it. */
#pragma once

#include "call/region.h"

typedef struct StoredNorm {
  const Tensor *weight, *bias, *mean, *variance; /* weight, bias: or NULL */
  double eps;
} StoredNorm;
/* Of a batch_norm in a region, whose vectors have to be plain; or declines. norm_region.c */
Status stored_norm_read(const RegionCall *r, const RegionStep *norm, int64_t channels, StoredNorm *out) MUST_CHECK;
/* What a channel's elements are multiplied with and what is added then, computed in float as is customary for float32.
 */
void norm_fold_stored(const StoredNorm *norm, int64_t channels, float *scale, float *shift);
extern const struct Anchor norm_anchor; /* norm_region.c */
