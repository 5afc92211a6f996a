/* Sums of float32 in double: eight partial sums in a fixed order, so that the bits depend on neither threads nor
 * instruction sets. */
#pragma once

#include "base/base.h"

double reduce_sum_f32(int64_t n, const float *x);
/* Its forms. */
typedef double ReduceSum(int64_t n, const float *x);
ReduceSum reduce_sum_f32_portable, reduce_sum_f32_avx2, reduce_sum_f32_neon;
