/* The inner loop of depthwise convolution, one for each instruction set. */
#pragma once

#include "compute/conv/conv.h"

/* sums[i] = the sum over t of weights[t] * phases[offsets[t] + i], for i in [0, length); up to SLACK floats behind may
 * be read and written too. */
typedef void DepthwiseRun(int64_t taps, const int64_t *offsets, const float *weights, const float *phases,
                          int64_t length, float *sums);
DepthwiseRun conv_depthwise_run_portable, conv_depthwise_run_avx2, conv_depthwise_run_neon;
