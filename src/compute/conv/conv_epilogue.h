/* What happens to a convolution's results while they are in registers or cache: result * scale[channel] +
 * shift[channel] + add, each if not NULL, and an activation. NaN stays NaN. */
#pragma once

#include "base/base.h"

typedef enum ConvActivation {
  CONV_NONE,
  CONV_CLAMP,      /* to [low, high] */
  CONV_HARDSWISH,  /* x * min(max(x + 3, 0), 6) / 6 */
  CONV_HARDSIGMOID /* min(max(x + 3, 0), 6) / 6 */
} ConvActivation;
typedef struct ConvEpilogue {
  const float *scale, *shift;
  const float *add; /* of the results' sizes, row-major */
  ConvActivation activation;
  float low, high;
} ConvEpilogue;

/* n results of one channel; `to` may be `from`. */
void conv_epilogue_line(const ConvEpilogue *e, int64_t channel, int64_t n, const float *from, float *to);
/* All results, in place: planes of n elements, `channels` of them for each sample. */
void conv_epilogue_planes(const ConvEpilogue *e, int threads, int64_t planes, int64_t channels, int64_t n,
                          float *values);

/* The loop, with infinite bounds where nothing clamps; for each instruction set. */
typedef void ConvEpilogueLoop(int64_t n, const float *from, float *to, float scale, float shift, float low, float high);
ConvEpilogueLoop conv_epilogue_portable, conv_epilogue_avx2, conv_epilogue_neon;
