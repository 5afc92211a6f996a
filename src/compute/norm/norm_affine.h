/* y = (x - center) * scale + shift, the inner loop of the normalizations for float32, and where its numbers come
 * from. */
#pragma once

#include <stdint.h>

/* A center near x's numbers takes nothing of their difference, however far from zero they lie; x * scale, as a product
 * of large numbers, would lose it. */
typedef struct NormScaling {
  const float *center; /* NULL: 0, as it is for elements with their own */
  const float *scale, *shift;
} NormScaling;
/* With one of each for all n elements (step 0) or their own (step 1). */
void norm_affine(int64_t n, const float *x, float *y, NormScaling by, int64_t step);
/* Of a center that is `mean` rounded: what makes up for that. */
float norm_shift(double mean, double scale, double bias);
/* relu of it: not above 0 gives 0, NaN stays. */
void norm_affine_relu(int64_t n, const float *x, float *y, float scale, float shift);
/* Of stored statistics: scale = weight / sqrt(variance + eps), shift = bias - mean * scale. */
typedef struct NormStored {
  const float *weight, *bias, *mean, *variance;
  float eps;
} NormStored;
void norm_fold(int64_t n, const NormStored *stored, float *scale, float *shift);
/* Their forms. */
typedef void NormAffine(int64_t n, const float *x, float *y, NormScaling by, int64_t step);
NormAffine norm_affine_portable, norm_affine_avx2, norm_affine_neon;
typedef void NormAffineRelu(int64_t n, const float *x, float *y, float scale, float shift);
NormAffineRelu norm_affine_relu_portable, norm_affine_relu_avx2, norm_affine_relu_neon;
typedef void NormFold(int64_t n, const NormStored *stored, float *scale, float *shift);
NormFold norm_fold_portable, norm_fold_avx2, norm_fold_neon;
