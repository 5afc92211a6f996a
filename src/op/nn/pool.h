/* Pooling windows, shared by the pooling operators: always three spatial dimensions, missing leading ones of size 1. */
#pragma once

#include "call/call.h"

typedef struct PoolWindow {
  int spatial;
  bool unbatched;
  int64_t planes; /* batch * channels */
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
  bool ceil_mode;
} PoolWindow;

/* kernel_size, stride (empty: the kernel), padding, dilation, ceil_mode by name; input is argument `input`. */
Status pool_read(const Call *call, uint32_t input, int spatial, PoolWindow *out) MUST_CHECK;
/* output_size by name (adaptive, fractional). None entries keep the input's size. */
Status pool_read_output_size(const Call *call, uint32_t input, int spatial, PoolWindow *out) MUST_CHECK;
/* The spec of a pooled tensor. */
void pool_spec(const Tensor *input, const PoolWindow *w, DType dtype, TensorSpec *out);
/* How many spatial dimensions the operator's name says: ...1d, ...2d_backward. */
int pool_spatial(const Call *call);
/* Window [begin, end) of output o along dimension d of an adaptive pool. */
static inline int64_t adaptive_begin(int64_t o, int64_t out, int64_t in) {
  return o * in / out;
}
static inline int64_t adaptive_end(int64_t o, int64_t out, int64_t in) {
  return ((o + 1) * in + out - 1) / out;
}
