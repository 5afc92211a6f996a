/* Convolution as a product of patches and weights, where vectors lie along output channels.
 *
 * The inputs that a few neighboring results meet are put in order, [input channel][tap][position], so that a step reads
 * two vectors of weights and one number for each position: nothing is lost to what lies between rows, to the ends of
 * rows or to planes that are no multiple of a vector. It pays where patches are little larger than the input, or few.
 */
#pragma once

#include "compute/conv/conv.h"
#include "compute/conv/conv_weights.h"
#include "compute/conv/flat_tile.h"

bool flat_product_pays(const ConvParams *p, const FlatKernels *kernels);
/* [group][channel / (2 * vector)][input channel][tap][2 * vector]. */
void flat_product_layout(const ConvParams *p, const FlatKernels *kernels, WeightLayout *out);
/* All of batch, channels and groups; input and out row-major and dense, weight in the layout above. */
Status flat_product(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *input,
                    const float *weight, const ConvEpilogue *epilogue, float *out) MUST_CHECK;
