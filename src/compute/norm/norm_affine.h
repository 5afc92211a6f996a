/* y = x * scale + shift, the inner loop of the normalisations for float32. */
#pragma once

#include "base/base.h"

/* With one scale and shift for all n elements (step 0) or their own (step 1). */
void norm_affine(int64_t n, const float *x, float *y, const float *scale, const float *shift, int64_t step);
/* Its forms; the second only where AVX2 and FMA are. */
void norm_affine_baseline(int64_t n, const float *x, float *y, const float *scale, const float *shift, int64_t step);
void norm_affine_avx2(int64_t n, const float *x, float *y, const float *scale, const float *shift, int64_t step);
