/* 3x3 convolutions of stride 1 by Winograd's minimal filtering (Lavin and Gray, "Fast Algorithms for Convolutional
 * Neural Networks", 2015): squares of results, 2x2 or 4x4, take 16 or 36 products instead of 36 or 144, after sums of
 * inputs and before sums of products.
 *
 * The input is dealt out to planes in which the inputs of neighboring squares are runs, and the products over channels
 * are flat convolution's tiles with one tap.
 *
 * F(4x4, 3x3) takes the points 0, +-3/4, +-3/2 and infinity instead of the usual 0, +-1, +-2: twice to three times as
 * exact, since the transforms' numbers are closer to each other. The root mean square of errors is below 8 times that
 * of direct summation, with 2x2 below 3 times (test_winograd_errors).
 *
 * What is not finite in an input would spread over its square; then nothing can be said of the results. */
#pragma once

#include "compute/conv/conv.h"
#include "compute/conv/flat_tile.h"

typedef struct WeightLayout WeightLayout; /* compute/conv/conv_weights.h */

/* One of the points +-x at which lines of filters are taken: G has its powers over its distances to the others,
 * multiplied. 0 and infinity are the other two, the first and the last. */
typedef struct PointPair {
  double x, scale;
} PointPair;
typedef struct FilterPoints {
  int pairs;
  double scale; /* of 0 */
  PointPair pair[2];
} FilterPoints;
enum { MOST_POINTS = 6 };
FilterPoints filter_points(int side);

/* The side of the squares with which it is least work, 2 or 4; 0: it is not of the kind, or flat_conv is less. */
int flat_winograd_side(const ConvParams *p, const FlatKernels *kernels);
/* Whether the weight is to be kept transformed, four times as large or twice (side 2). Where that is a lot, it is kept
 * as flat_conv has it, and its transforms are made whenever it is used: in less time than memory would take to give
 * them. */
bool flat_winograd_keeps(const ConvParams *p, int side);
/* [channel / 8][(side + 2)^2][input channel][8], transformed; or flat_conv_layout. */
void flat_winograd_layout(const ConvParams *p, int side, bool is_kept, WeightLayout *out);
/* Of one that is kept transformed; `to` has layout->bytes. */
void flat_winograd_pack(int threads, const WeightLayout *layout, const Tensor *weight, float *to);
/* *out_finite false: some result is not finite, and all are to be computed otherwise. */
Status flat_winograd(const FlatKernels *kernels, const Work *work, const ConvParams *p, int side, bool is_kept,
                     const float *input, const float *weight, const ConvEpilogue *epilogue, float *out,
                     bool *out_finite) MUST_CHECK;
