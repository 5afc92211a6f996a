/* Sums of a line in double, and of its squares: partial sums in a fixed order, block by block, so that the bits depend
 * on neither threads nor instruction sets. The reductions and the kernels of fusion groups share them. */
#pragma once

#include <stdint.h>

enum { LINE_SUM_BLOCK = 512 };

/* Of one block, n <= LINE_SUM_BLOCK. */
double line_sum_f32(int64_t n, const float *x);
double line_sum_f64(int64_t n, const double *x);
double line_squares_f64(int64_t n, const double *x);
/* Their forms; those of squares for reductions that have one themselves (compute/reduce/reduce_float32.h). */
typedef double LineSum(int64_t n, const float *x);
LineSum line_sum_f32_portable, line_sum_f32_avx2, line_sum_f32_neon;
LineSum line_squares_f32_avx2, line_squares_f32_neon;
