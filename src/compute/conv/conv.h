/* Convolutions: one description for every spelling, portable kernels, and the way to the fast ones. */
#pragma once

#include "base/work.h"
#include "compute/conv/conv_epilogue.h"
#include "tensor/tensor.h"

enum {
  CONV_SPATIAL = 3,
  CONV_FEW_POSITIONS = 256 /* of a plane: so small ones stay in cache, and are products by vectors of channels */
};

/* Always three spatial dimensions; missing leading ones have size 1, stride 1, no padding. */
typedef struct ConvParams {
  int spatial; /* as given: 1, 2 or 3 */
  bool transposed, unbatched;
  int64_t stride[CONV_SPATIAL], padding[CONV_SPATIAL], dilation[CONV_SPATIAL], output_padding[CONV_SPATIAL];
  int64_t padding_after[CONV_SPATIAL]; /* differs from padding for "same" with an even kernel */
  int64_t groups;
  int64_t batch, in_channels, out_channels; /* all groups */
  int64_t in[CONV_SPATIAL], out[CONV_SPATIAL], kernel[CONV_SPATIAL];
} ConvParams;

Status conv_params(const Tensor *input, const Tensor *weight,
                   ConvParams *out) MUST_CHECK; /* the sizes, once the numbers are set */
/* Of a batch's result; sizes has room for CONV_SPATIAL + 2, and is given. */
const int64_t *conv_result_sizes(const ConvParams *p, int64_t *sizes);
/* Whether the result of a batch is row-major. An input or weight with dimensions of one element can be row-major and
 * channels-last at once: then its strides decide, as they do everywhere. */
bool conv_gives_row_major(const ConvParams *p, const Tensor *input, const Tensor *weight);
/* out, input, weight dense and row-major, of float32 or float64; bias of out_channels or NULL. */
Status conv_forward_portable(const Work *work, const ConvParams *p, DType dtype, const void *input, const void *weight,
                             const void *bias, void *out) MUST_CHECK;
/* Whether conv_forward can multiply the input by a gate (ConvEpilogue): 1x1 kernels on planes of some positions. */
bool conv_takes_gate(const ConvParams *p);
/* float32 by whichever way is fastest; input, weight and out dense and row-major, out not empty. */
Status conv_forward(const Work *work, const ConvParams *p, const Tensor *input, const Tensor *weight,
                    const ConvEpilogue *epilogue, Tensor *out) MUST_CHECK;
/* The same where input and out are channels-last, for some; bias of out_channels or NULL. */
bool conv_takes_channels_last(const Work *work, const ConvParams *p);
Status conv_forward_channels_last(const Work *work, const ConvParams *p, const Tensor *input, const Tensor *weight,
                                  const float *bias, Tensor *out) MUST_CHECK;
/* An expansion to more channels and the depthwise convolution of its result, each finished by its epilogue. */
typedef struct Expansion {
  const ConvParams *expand, *depthwise;
  const ConvEpilogue *after_expand, *after_depthwise;
} Expansion;
/* Whether they can be done at once, so that what lies between them stays in cache, and it pays. */
bool conv_takes_expansion(const Expansion *both);
/* Tensors of float32, dense and row-major, out not empty. */
Status conv_forward_expansion(const Work *work, const Expansion *both, const Tensor *input, const Tensor *expand_weight,
                              const Tensor *depthwise_weight, Tensor *out) MUST_CHECK;
/* A 1x1 kernel without stride or padding: one matrix product for each sample, on the input as it lies. */
bool conv_is_product(const ConvParams *p);
/* Any of the results may be NULL. */
Status conv_backward_portable(const Work *work, const ConvParams *p, DType dtype, const void *grad, const void *input,
                              const void *weight, void *grad_input, void *grad_weight, void *grad_bias) MUST_CHECK;
/* Every group one input channel, every plane its own kernel: no matrix product in it. float32, row-major. */
bool conv_is_depthwise(const ConvParams *p);
Status conv_depthwise(const Work *work, const ConvParams *p, const float *input, const float *weight,
                      const ConvEpilogue *epilogue, float *out) MUST_CHECK;
