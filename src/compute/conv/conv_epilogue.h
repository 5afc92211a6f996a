/* What happens to a convolution's results while they are in registers or cache: result * scale[channel] +
 * shift[channel] + add, each if not NULL, and an activation. NaN stays NaN. And to its input, where conv_takes_gate. */
#pragma once

#include "base/base.h"

/* name, and its text in programs: the operator's, but for the clamp, to [low, high]. */
#define CONV_ACTIVATIONS(X)     \
  X(NONE, "")                   \
  X(CLAMP, "hardtanh")          \
  X(HARDSWISH, "hardswish")     \
  X(HARDSIGMOID, "hardsigmoid") \
  X(SIGMOID, "sigmoid")         \
  X(SILU, "silu")               \
  X(GELU, "gelu")
typedef enum ConvActivation {
#define X(name, text) CONV_##name,
  CONV_ACTIVATIONS(X)
#undef X
      CONV_ACTIVATION_COUNT
} ConvActivation;

const char *conv_activation_name(ConvActivation activation);
/* CONV_NONE: there is none of that name. */
ConvActivation conv_activation_find(Str name);
/* CONV_GELU, with erf, of `rows` lines of n, `stride` apart. */
void conv_gelu(int rows, int64_t stride, int64_t n, float *x);

typedef struct ConvEpilogue {
  const float *scale, *shift;
  const float *add;  /* of the results' sizes, row-major */
  const float *gate; /* [image][input channel]: what the input's planes are multiplied by; NULL: nothing */
  ConvActivation activation;
  float low, high;
} ConvEpilogue;
