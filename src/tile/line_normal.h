/* Moments of a line and its normalization in float32, for each instruction set: the same bits by all. */
#pragma once

#include <stdint.h>

/* Sums of x - first and of the squares of that, in double, in parts: element i goes to part i % LINE_PARTS, those that
 * fill no part to the first. */
enum { LINE_PARTS = 16 };
typedef struct LineMoments {
  double sums[LINE_PARTS], squares[LINE_PARTS];
} LineMoments;

typedef struct LineNormal {
  void (*take_moments)(int64_t n, const float *x, double first, LineMoments *out);
  /* (x - center) * scale + shift */
  void (*normalize)(int64_t n, float *to, const float *x, float center, float scale, float shift);
} LineNormal;
extern const LineNormal line_normal_portable, line_normal_avx2, line_normal_avx512, line_normal_neon;
const LineNormal *line_normal(void); /* for this processor */

/* The same order for a line of double: adds to the moments. Blocks of a line that are multiples of LINE_PARTS give what
 * the line gives at once. */
void line_add_moments_f64(int64_t n, const double *x, double first, LineMoments *moments);
