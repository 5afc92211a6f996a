/* ConvShape: a convolution of one to three dimensions as one of three, with its operands row-major. */
#ifndef CUDA_CONV_SHAPE_H
#define CUDA_CONV_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/* As kernels have it. Of a transposed one, weights are [in_channels, out_channels / groups, ...]. */
typedef struct ConvShape {
  int64_t batch, groups, in_channels, out_channels;
  int64_t in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
} ConvShape;
typedef struct Conv {
  ConvShape shape;
  int dims; /* that it has by itself */
  bool is_transposed;
  bool allows_tf32; /* its factors may be rounded to TF32 */
  uint32_t dtype;
  void *x, *weight, *bias, *y; /* bias may be NULL */
} Conv;

#endif
