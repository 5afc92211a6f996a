/* The loops of norm_affine.h for one instruction set. The including file defines NAME, RELU_NAME, FOLD_NAME and
 * MULTIPLY_ADD(a, b, c). */
#include <stdint.h>

#include "compute/norm/norm_affine.h"

void NAME(int64_t n, const float *x, float *y, NormScaling by, int64_t step) {
  const float *center = by.center, *scale = by.scale, *shift = by.shift;
  if (step == 0) {
    float a = *scale, b = *shift, c = center ? *center : 0;
#pragma GCC unroll 4
    for (int64_t i = 0; center && i < n; i++) y[i] = MULTIPLY_ADD(x[i] - c, a, b);
    for (int64_t i = 0; !center && i < n; i++) y[i] = MULTIPLY_ADD(x[i], a, b);
  } else {
    for (int64_t i = 0; i < n; i++) y[i] = MULTIPLY_ADD(x[i], scale[i], shift[i]);
  }
}

void RELU_NAME(int64_t n, const float *x, float *y, float scale, float shift) {
  for (int64_t i = 0; i < n; i++) {
    float v = MULTIPLY_ADD(x[i], scale, shift);
    y[i] = v <= 0 ? 0 : v;
  }
}

void FOLD_NAME(int64_t n, const NormStored *stored, float *scale, float *shift) {
  const float *weight = stored->weight, *bias = stored->bias, *mean = stored->mean, *variance = stored->variance;
  float eps = stored->eps;
  for (int64_t i = 0; i < n; i++) scale[i] = 1 / __builtin_sqrtf(variance[i] + eps) * weight[i];
  for (int64_t i = 0; i < n; i++) shift[i] = MULTIPLY_ADD(-mean[i], scale[i], bias[i]);
}
