/* Batch normalization by stored statistics, for the operators that do it. */
#pragma once

#include "tensor/tensor.h"

/* What a channel's elements are multiplied with and what is added then, computed in float as is customary for float32;
 * weight and bias may be NULL. */
void norm_fold_stored(const Tensor *weight, const Tensor *bias, const Tensor *mean, const Tensor *variance, double eps,
                      int64_t channels, float *scale, float *shift);
extern const struct Anchor norm_anchor; /* norm_region.c */
