/* What happens to a convolution's results while they are in registers or cache: result * scale[channel] +
 * shift[channel] + add, each if not NULL, and an activation. And to its input, where conv_takes_gate. */
#pragma once

#include "compute/activation.h"

typedef struct ConvEpilogue {
  const float *scale, *shift;
  const float *add;  /* of the results' sizes, row-major */
  const float *gate; /* [image][input channel]: what the input's planes are multiplied by; NULL: nothing */
  Activation activation;
} ConvEpilogue;
