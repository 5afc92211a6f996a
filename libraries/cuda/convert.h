/* Copies between tensors of one card, of any strides and dtypes: a kernel of no operations, rendered as
 * others are. */
#ifndef CUDA_CONVERT_H
#define CUDA_CONVERT_H

#include "cuda/card.h"
#include "wick/tensor.h"

wick_status convert(void *user, const wick_tensor_view *to, const wick_tensor_view *from, wick_error **error);

#endif
