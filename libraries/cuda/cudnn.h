/* Convolutions by cuDNN, which is opened where it is there: WICK_CUDNN names the file; empty, none is used. */
#ifndef CUDA_CUDNN_H
#define CUDA_CUDNN_H

#include "cuda/card.h"
#include "cuda/conv_shape.h"

/* WICK_UNSUPPORTED: it is not there, or does not take such a convolution. The bias is not added. */
wick_status cudnn_convolve(Card *card, const Conv *conv, wick_error **error);

#endif
