/* What the engines of regions (conv_region.c, product_region.c, norm_region.c, attention_fused.c), and kernels beside a
 * body, ask before they do the work of several operators at once. What is out of the ordinary they decline: it is done
 * by the operators that their node was made from. */
#pragma once

#include "call/call.h"
#include "report/reason.h"

/* Whether gradients are wanted; then the operators are called, which record themselves. */
static inline bool fused_records(const Call *call) {
  if (!call->exec->grad_enabled) return false;
  for (uint32_t i = 0; i < call->input_count; i++)
    if (call->inputs[i].tag == TAG_TENSOR && tensor_records(call->inputs[i].tensor)) return true;
  return false;
}

/* What there is against a tensor that is to be plain and is not. */
static inline Status fused_decline(const Tensor *t) {
  return reason_decline(t->flags & (TENSOR_UNUSUAL | TENSOR_UNDEFINED) ? REASON_NOT_FUSED_KIND
                        : t->dtype != DTYPE_FLOAT32                    ? REASON_NOT_FUSED_DTYPE
                                                                       : REASON_NOT_FUSED_LAYOUT);
}
/* Row-major float32 in memory of the host; NULL is. */
static inline bool fused_is_plain(const Tensor *t) {
  return !t || (t->dtype == DTYPE_FLOAT32 && !(t->flags & TENSOR_UNUSUAL) && tensor_is_contiguous(t));
}
/* Strides by which the sizes pass over what is broadcast to them; false: it is larger. */
bool fused_broadcast(const Tensor *t, int ndim, const int64_t *sizes, int64_t *strides); /* region.c */
/* A number for each channel; NULL is. */
static inline bool fused_is_vector(const Tensor *t, int64_t channels) {
  return !t || (fused_is_plain(t) && t->ndim == 1 && t->sizes[0] == channels);
}
