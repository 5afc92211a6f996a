/* y = x * scale + shift, the inner loop of the normalizations for float32. */
#pragma once

#include "base/base.h"

/* With one scale and shift for all n elements (step 0) or their own (step 1). */
void norm_affine(int64_t n, const float *x, float *y, const float *scale, const float *shift, int64_t step);
/* relu of it: not above 0 gives 0, NaN stays. */
void norm_affine_relu(int64_t n, const float *x, float *y, float scale, float shift);
/* Their forms. */
typedef void NormAffine(int64_t n, const float *x, float *y, const float *scale, const float *shift, int64_t step);
NormAffine norm_affine_portable, norm_affine_avx2, norm_affine_neon;
typedef void NormAffineRelu(int64_t n, const float *x, float *y, float scale, float shift);
NormAffineRelu norm_affine_relu_portable, norm_affine_relu_avx2, norm_affine_relu_neon;
