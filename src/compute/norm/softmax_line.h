/* The softmax of one line in float32, the inner loop of softmax and log_softmax. */
#pragma once

#include "base/base.h"

/* `to` may be x. */
typedef void SoftmaxLine(int64_t n, const float *x, float *to, bool is_log);
SoftmaxLine *softmax_line(void); /* for this processor */
SoftmaxLine softmax_line_portable, softmax_line_avx2, softmax_line_avx512, softmax_line_neon;
