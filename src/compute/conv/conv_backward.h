/* What the gradients of convolutions of float32 are made of, by the fast kernels. `wide` is the side of a plain
 * convolution's input, `narrow` that of its output; of a transposed one it is the other way round. */
#pragma once

#include "compute/conv/conv.h"
#include "compute/conv/conv_weights.h"
#include "compute/conv/flat_tile.h"

/* Any of the results may be NULL; as conv_backward_portable, by whichever way is fastest. */
Status conv_backward(const Work *work, const ConvParams *p, DType dtype, const void *grad, const void *input,
                     const void *weight, void *grad_input, void *grad_weight, void *grad_bias) MUST_CHECK;

/* The plain convolution whose input gradient a transposed one is; p itself where it is plain. */
ConvParams conv_plain_of(const ConvParams *p);

/* narrow = what a plain convolution gives: the input gradient of a transposed one. */
bool conv_gather_takes(const ConvParams *p);
Status conv_gather(const Work *work, const ConvParams *p, const float *wide, const float *weight,
                   float *narrow) MUST_CHECK;
/* wide = sum over taps of weight times narrow: the input gradient of a plain convolution, the results of a transposed
 * one. */
bool conv_spread_takes(const ConvParams *p);
Status conv_spread(const Work *work, const ConvParams *p, const float *narrow, const float *weight,
                   float *wide) MUST_CHECK;
/* The same of a transposed one, by a weight that is kept packed if that is possible. */
Status conv_spread_by_kept(const Work *work, const ConvParams *p, const Tensor *narrow, const Tensor *weight,
                           Tensor *wide) MUST_CHECK;
/* The weight of all its plain convolutions; the layout is one of conv_spread_by_kept. On the caller's thread. */
void conv_spread_pack(int threads, const WeightLayout *layout, const Tensor *weight, float *to);

/* The weight's gradient: for each tap the sum of narrow times wide over all positions. The same bits whatever the
 * number of threads. *done false: some result is not finite, and may not be so for the reason that it should. */
bool conv_correlate_takes(const ConvParams *p);
Status conv_correlate(const Work *work, const ConvParams *p, const float *narrow, const float *wide, float *grad_weight,
                      bool *done) MUST_CHECK;
/* The same in given loops. */
Status conv_correlate_by(const FlatKernels *kernels, const Work *work, const ConvParams *p, const float *narrow,
                         const float *wide, float *grad_weight, bool *done) MUST_CHECK;
