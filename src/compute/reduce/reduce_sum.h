/* Sums of float32 in double: eight partial sums in a fixed order, so that the bits depend on neither threads nor
 * instruction sets. */
#pragma once

#include "base/base.h"

double reduce_sum_f32(int64_t n, const float *x);
/* Its forms; the second only where AVX2 is. */
double reduce_sum_f32_portable(int64_t n, const float *x);
double reduce_sum_f32_avx2(int64_t n, const float *x);
