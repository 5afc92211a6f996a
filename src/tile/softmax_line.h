/* The softmax of one line, the inner loop of softmax and log_softmax and of kernels that compute them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* In float32; `to` may be x. */
typedef void SoftmaxLine(int64_t n, const float *x, float *to, bool is_log);
SoftmaxLine *softmax_line(void); /* for this processor */
SoftmaxLine softmax_line_portable, softmax_line_avx2, softmax_line_avx512, softmax_line_neon;

/* The same in float64. rounds: the sum and its logarithm to bfloat16, as PyTorch 1.13 does for log_softmax. */
void softmax_line_f64(int64_t n, const double *x, double *to, bool is_log, bool rounds);
