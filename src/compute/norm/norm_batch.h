/* Batch normalization's sums over each channel and its gradients, of float32 and float64. Sums are made in double, in
 * an order that does not depend on the number of threads. */
#pragma once

#include "base/status.h"
#include "tensor/dtype.h"

/* Row-major (batch, channels, inner). With an inner of 1 rows of channels are walked, whose threads take channels. */
typedef struct NormBatch {
  DType dtype; /* float32 or float64 */
  int64_t batch, channels, inner;
  const void *x, *grad;
  void *grad_x; /* may be NULL */
} NormBatch;

/* Of each channel, the variance without correction; 0 of no elements. */
Status norm_batch_statistics(int threads, const NormBatch *b, double *mean, double *variance) MUST_CHECK;
/* The gradients of (x - mean) * invstd * weight + bias; where `training`, of a mean and an invstd that are those of x.
 * weight NULL: 1. */
Status norm_batch_backward(int threads, const NormBatch *b, bool training, const double *mean, const double *invstd,
                           const double *weight, double *grad_weight, double *grad_bias) MUST_CHECK;

/* What the gradient of a channel's x is made of: (grad - mean_grad - (x - mean) * factor) * scale, in x's type. */
typedef struct NormGradient {
  double mean, mean_grad, factor, scale;
} NormGradient;

/* The loops of one type in one instruction set (norm_batch_body.h). */
typedef struct NormBatchLoops {
  /* Adds to sums[0] and sums[1] those of x - first and of its squares; of grad and of grad * (x - mean). */
  void (*moments)(int64_t n, const void *x, double first, double *sums);
  void (*products)(int64_t n, const void *x, const void *grad, double mean, double *sums);
  void (*gradient)(int64_t n, const void *x, const void *grad, const NormGradient *g, void *grad_x);
  /* The same of n channels side by side. */
  void (*row_moments)(int64_t n, const void *x, const double *first, double *sums, double *squares);
  void (*row_products)(int64_t n, const void *x, const void *grad, const double *mean, double *sums, double *products);
  /* numbers: of x's type, a line for each of NormGradient's, `stride` apart */
  void (*row_gradient)(int64_t n, const void *x, const void *grad, const void *numbers, int64_t stride, void *grad_x);
} NormBatchLoops;
/* Of float32 and float64. */
typedef NormBatchLoops NormBatchForms[2];
extern const NormBatchForms norm_batch_portable, norm_batch_avx2, norm_batch_neon;
