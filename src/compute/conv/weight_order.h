/* Puts weights into the order of a layout, and back. */
#pragma once

#include "compute/conv/conv_weights.h"

/* false: no memory. */
bool weight_put_in_order(int threads, const Tensor *from, const WeightLayout *layout, float *to);
/* Every bit as it was, of a layout that transforms nothing (WEIGHT_AS_IT_IS): it has each element at one place. */
bool weight_put_back(int threads, const float *from, const WeightLayout *layout, float *to);
