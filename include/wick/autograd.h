/* wick/autograd: gradients. */
#ifndef WICK_AUTOGRAD_H
#define WICK_AUTOGRAD_H

#include "wick/runtime.h"
#include "wick/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- gradients ----
 * wick_tensor_set_requires_grad(weight, 1, NULL);
 * options.grad = WICK_GRAD_ON; wick_run(..., &loss, NULL);
 * wick_backward(NULL, (const wick_value *[]){loss}, NULL, 1, 0, &error);
 * wick_tensor_grad(weight, &gradient, NULL);                                      */
enum {
  WICK_RETAIN_GRAPH = 1,
  WICK_CREATE_GRAPH = 2 /* gradients can be differentiated again */,
  WICK_ALLOW_UNUSED = 4
};
/* Of a leaf: a tensor that no recorded call made. */
WICK_API wick_status wick_tensor_set_requires_grad(const wick_value *tensor, int wanted, wick_error **error);
/* *out is NULL when backward left none. */
WICK_API wick_status wick_tensor_grad(const wick_value *tensor, wick_value **out, wick_error **error);
WICK_API wick_status wick_tensor_clear_grad(const wick_value *tensor, wick_error **error);
/* Called by wick_backward, on its thread, with the gradient that is about to be added to a leaf's. *out_replacement
 * (NULL before) may be set to an owned tensor of the same sizes and dtype, which takes its place. A status other than
 * 0, with an error from wick_error_new or none, ends the backward. */
typedef wick_status wick_grad_hook(void *user, const wick_value *grad, wick_value **out_replacement,
                                   wick_error **error);
/* Hooks of a leaf that requires grad run in the order they were added, until they are cleared or the tensor goes;
 * `drop` (may be NULL) is then called with the user's pointer, and at once on failure. Not while a backward runs. */
WICK_API wick_status wick_tensor_add_hook(const wick_value *leaf, wick_grad_hook *hook,
                                          void (*WICK_NULLABLE drop)(void *user), void *user, wick_error **error);
WICK_API wick_status wick_tensor_clear_hooks(const wick_value *leaf, wick_error **error);
/* Adds to the gradients of the leaves that the outputs were computed from. grads (or one of them) may be NULL for
 * outputs of one element. */
WICK_API wick_status wick_backward(wick_runtime *runtime, const wick_value *const *outputs,
                                   const wick_value *const *WICK_NULLABLE grads, size_t count, uint32_t flags,
                                   wick_error **error);
/* The gradients of the inputs in out[input_count]; leaves keep theirs. With WICK_ALLOW_UNUSED out[i] is NULL where the
 * outputs do not depend on an input. */
WICK_API wick_status wick_grad(wick_runtime *runtime, const wick_value *const *outputs,
                               const wick_value *const *WICK_NULLABLE grads, size_t count,
                               const wick_value *const *inputs, size_t input_count, uint32_t flags, wick_value **out,
                               wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
