/* Convolution of float32 planes as sums of shifted products, from and to row-major tensors.
 *
 * The input's planes are laid out once with their padding, one plane for each remainder of the positions by the strides
 * ("phases"); without padding and strides they are taken as they lie. Then every tap of the
 * kernel is one constant distance, and a run of neighboring outputs is, for each channel and tap, a product of a weight
 * with a run of neighboring inputs, whatever kernel, stride and dilation are. Outputs of up to 8 channels and 48
 * positions are kept in registers meanwhile. What falls between the rows is computed too and left out, or the runs end
 * with the rows, whichever wastes less. Few results are products of patches (flat_few.h). docs/kernels.md says more. */
#pragma once

#include "compute/conv/conv.h"
#include "compute/conv/conv_weights.h"
#include "compute/conv/flat_tile.h"

/* Whether flat_conv does it: not transposed ones, nor where (next to) nothing of the planes would be read. */
bool flat_conv_takes(const ConvParams *p);
/* Weights in panels of so many output channels: [group][channel / rows][input channel][tap][rows]. */
void flat_weight_layout(const ConvParams *p, int64_t rows, WeightLayout *out);
/* How it wants the weight: [group][channel / 8][input channel][tap][8]. */
void flat_conv_layout(const ConvParams *p, WeightLayout *out);
/* All of batch, channels and groups; input and out row-major and dense, weight in the layout above. */
Status flat_conv(const Work *work, const ConvParams *p, const float *input, const float *weight,
                 const ConvEpilogue *epilogue, float *out) MUST_CHECK;
/* The same in given loops. */
Status flat_conv_by(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                    const float *weight, const ConvEpilogue *epilogue, float *out) MUST_CHECK;
