/* What operators of plans, which do the work of several (conv_norm.c, attention_fused.c, norm_relu.c, linears.c,
 * linear_pointwise.c), ask before they do it at once. What is out of the ordinary goes to the parts. */
#pragma once

#include "call/operator.h"

/* Whether gradients are wanted; then the parts are called, which record themselves. */
static inline bool fused_records(const Call *call) {
  if (!call->exec->grad_enabled) return false;
  for (uint32_t i = 0; i < call->input_count; i++)
    if (call->inputs[i].tag == TAG_TENSOR && tensor_records(call->inputs[i].tensor)) return true;
  return false;
}

/* Row-major float32 in memory of the host; NULL is. */
static inline bool fused_is_plain(const Tensor *t) {
  return !t || (t->dtype == DTYPE_FLOAT32 && !(t->flags & TENSOR_UNUSUAL) && tensor_is_contiguous(t));
}
/* A number for each channel; NULL is. */
static inline bool fused_is_vector(const Tensor *t, int64_t channels) {
  return !t || (fused_is_plain(t) && t->ndim == 1 && t->sizes[0] == channels);
}
