/* The running of a quantized convolution whose sizes were checked. */
#pragma once

#include "call/exec.h"
#include "op/quantized/packed.h"

/* Three spatial dimensions, first ones of 1 where there are fewer. */
typedef struct ConvShape {
  int64_t batch, in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
} ConvShape;
/* to: pixels of the output, channels innermost. The input's dimensions are batch, channels, spatial ones. */
Status conv_run(const ConvParams *p, const ConvShape *shape, const LayerInput *input, const LayerOutput *output,
                uint8_t *to, const Exec *exec) MUST_CHECK;
