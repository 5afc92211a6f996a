/* Which engine does a gradient of a convolution, and the bias's. */
#include "compute/conv/conv_backward.h"

#include "base/parallel.h"
#include "tile/line_sum.h"

ConvParams conv_plain_of(const ConvParams *p) {
  ConvParams plain = *p;
  if (!p->transposed) return plain;
  plain.transposed = false;
  plain.in_channels = p->out_channels;
  plain.out_channels = p->in_channels;
  for (int d = 0; d < CONV_SPATIAL; d++) {
    plain.in[d] = p->out[d];
    plain.out[d] = p->in[d];
    plain.output_padding[d] = 0;
  }
  return plain;
}

/* Its weight's gradient is one matrix product for each sample, on what lies there. */
static bool is_large_product(const ConvParams *p) {
  enum { LEAST = 16 };
  return conv_is_product(p) && p->in_channels / p->groups >= LEAST && p->out_channels / p->groups >= LEAST;
}

typedef struct BiasGradient {
  const ConvParams *p;
  int64_t size;
  const float *grad;
  float *out;
} BiasGradient;

static void sum_channels(void *argument, int64_t begin, int64_t end) {
  const BiasGradient *b = argument;
  for (int64_t c = begin; c < end; c++) {
    double sum = 0;
    for (int64_t n = 0; n < b->p->batch; n++) {
      const float *plane = b->grad + (n * b->p->out_channels + c) * b->size;
      for (int64_t i = 0; i < b->size; i += LINE_SUM_BLOCK)
        sum += line_sum_f32(b->size - i < LINE_SUM_BLOCK ? b->size - i : LINE_SUM_BLOCK, plane + i);
    }
    b->out[c] = (float)sum;
  }
}

Status conv_backward(const Work *work, const ConvParams *p, DType dtype, const void *grad, const void *input,
                     const void *weight, void *grad_input, void *grad_weight, void *grad_bias) {
  enum { ONE_THREAD_FLOATS = 32768 };
  if (dtype != DTYPE_FLOAT32)
    return conv_backward_portable(work, p, dtype, grad, input, weight, grad_input, grad_weight, grad_bias);
  if (grad_input && p->transposed && conv_gather_takes(p)) {
    TRY(conv_gather(work, p, grad, weight, grad_input));
    grad_input = NULL;
  }
  if (grad_input && !p->transposed && conv_spread_takes(p)) {
    TRY(conv_spread(work, p, grad, weight, grad_input));
    grad_input = NULL;
  }
  if (grad_weight && conv_correlate_takes(p) && !is_large_product(p)) {
    bool done;
    TRY(conv_correlate(work, p, p->transposed ? input : grad, p->transposed ? grad : input, grad_weight, &done));
    if (done) grad_weight = NULL;
  }
  if (grad_bias) {
    int64_t size = p->out[0] * p->out[1] * p->out[2];
    BiasGradient b = {p, size, grad, grad_bias};
    parallel_for(work->threads, p->out_channels, 1 + ONE_THREAD_FLOATS / (p->batch * size + 1), sum_channels, &b);
  }
  if (!grad_input && !grad_weight) return OK;
  return conv_backward_portable(work, p, dtype, grad, input, weight, grad_input, grad_weight, NULL);
}
