/* Line functions: operations of kernel IR over a whole line, the elements along the last dimension of what a kernel
 * computes (which may stand for several dimensions of the operators'). Some reduce a line to one number, which then
 * stands for every element of it. Their loops are those of the eager operators, so that fusing does not change bits. */
#pragma once

#include "tile/kernel_ir.h"

/* clang-format off */
/*  name, in the IR's text; what a line becomes: a NUMBER or a LINE; types it is defined for, as in kernel_ir.h: NUMBER,
 *  ORDERED, FLOATING, REAL */
#define LINE_FUNCTIONS(X) \
  X(SUM, "line_sum", NUMBER, NUMBER)    /* of float32 in float64 */ \
  X(MEAN, "line_mean", NUMBER, FLOATING) /* the same */ \
  X(MAX, "line_max", NUMBER, ORDERED)    /* the first of equal ones; NaN wins */ \
  X(MIN, "line_min", NUMBER, ORDERED) \
  X(SOFTMAX, "line_softmax", LINE, REAL) \
  X(LOG_SOFTMAX, "line_log_softmax", LINE, REAL) \
  X(NORMALIZE, "line_normalize", LINE, REAL) /* mean 0, variance 1; the second operand is eps, an f64 constant */
/* clang-format on */

/* OpRow.line holds it; 0: none. */
typedef enum LineFunction {
  LINE_NONE,
#define X(name, text, becomes, types) LINE_##name,
  LINE_FUNCTIONS(X)
#undef X
      LINE_FUNCTION_COUNT
} LineFunction;
const char *line_name(LineFunction function);
bool line_is_defined(LineFunction function, TileType type);
bool line_gives_number(LineFunction function);
TileType line_result_type(LineFunction function, TileType type);

/* One line of n elements (at least 1) of the type into another, or into one number. `to` is not x. */
void line_run(LineFunction function, TileType type, int64_t n, void *to, const void *x, double eps);

/* (x - mean) * invstd in float32, as x * invstd - mean * invstd. */
void line_normalize(int64_t n, float *to, const float *x, double mean, double invstd);
/* In float64, as it stands. */
void line_normalize_f64(int64_t n, double *to, const double *x, double mean, double invstd);
/* Mean and 1 / sqrt(variance + eps) of n elements, summed in double. */
void line_statistics(DType dtype, const char *x, int64_t n, double eps, double *out_mean, double *out_invstd);
