/* 3x3 convolutions of stride 1 by Winograd's minimal filtering F(2x2, 3x3) (Lavin and Gray, "Fast Algorithms for
 * Convolutional Neural Networks", 2015): 16 products for 4 results instead of 36, after sums of inputs and before sums
 * of products.
 *
 * The four input planes by parity are flat (flat_planes.h), so the 4x4 inputs of a run of neighboring squares of
 * results are runs too, and the products over channels are flat convolution's tiles with one tap.
 *
 * What is not finite in an input would spread over its square; then nothing can be said of the results. */
#pragma once

#include "compute/conv/flat_conv.h"

/* Whether it is of the kind, and less work than flat_conv. */
bool flat_winograd_pays(const ConvParams *p, const FlatKernels *kernels);
/* [channel / 8][16][input channel][8], transformed. */
void flat_winograd_layout(const ConvParams *p, WeightLayout *out);
/* From a weight as it lies; `to` has layout->bytes. */
void flat_winograd_pack(int threads, const WeightLayout *layout, const float *weight, float *to);
/* *out_finite false: some result is not finite, and all are to be computed otherwise. */
Status flat_winograd(const FlatKernels *kernels, Exec *exec, const ConvParams *p, const float *input,
                     const float *weight, const ConvEpilogue *epilogue, float *out, bool *out_finite) MUST_CHECK;
