/* Distances between rows. */
#pragma once

#include "base/work.h"

/* Of two rows of n, the p-norm of their difference; in double. */
typedef double Distance(const double *a, const double *b, int64_t n, double p);
Distance *distance_of(double p);

/* Euclidean distances of rows without gaps through |a|^2 + |b|^2 - 2 a b, as PyTorch computes many: out is
 * rows_a x rows_b. Rows that are close, or not finite, are subtracted instead, so that no digits are lost. */
Status distance_by_product(const Work *work, int64_t rows_a, int64_t rows_b, int64_t n, const float *a, const float *b,
                           float *out) MUST_CHECK;
