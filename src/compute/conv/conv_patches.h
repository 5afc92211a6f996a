/* Convolutions of channels-last images whose windows lie side by side, as where an image is cut into patches: without
 * overlap, gaps or padding. */
#pragma once

#include "compute/conv/conv.h"

/* false also for so much work that a deadline has to be looked at in between. */
bool conv_patches_takes(const Work *work, const ConvParams *p);
/* float32; input and out channels-last, weight dense and row-major, bias of out_channels or NULL. */
Status conv_patches(const Work *work, const ConvParams *p, const float *input, const Tensor *weight, const float *bias,
                    float *out) MUST_CHECK;
