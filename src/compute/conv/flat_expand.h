/* An expansion, a 1x1 convolution to many channels, and the depthwise convolution of its result, some channels after
 * the other: what lies between them never leaves a thread's cache (the inverted bottlenecks of Sandler et al.,
 * "MobileNetV2", 2018). */
#pragma once

#include "compute/conv/conv.h"
#include "compute/conv/flat_tile.h"

/* The epilogue after the expansion may have scale, shift and activation. */
bool flat_expand_takes(const FlatKernels *kernels, const Expansion *both);
/* All of the batch; input, weight and out row-major and dense, expand_weight as flat_conv_layout has it. */
Status flat_expand(const FlatKernels *kernels, const Work *work, const Expansion *both, const float *input,
                   const float *expand_weight, const float *weight, float *out) MUST_CHECK;
