/* wick/autograd: gradients. */
#ifndef WICK_AUTOGRAD_H
#define WICK_AUTOGRAD_H

#include "wick/runtime.h"
#include "wick/module.h"
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
WICK_API wick_status wick_tensor_set_requires_grad(wick_value *tensor, int wanted, wick_error **error);
/* *out is NULL when backward left none. */
WICK_API wick_status wick_tensor_grad(const wick_value *tensor, wick_value **out, wick_error **error);
WICK_API wick_status wick_tensor_clear_grad(wick_value *tensor, wick_error **error);
/* `grad` (NULL: none) becomes the gradient that backward adds to. Its sizes and dtype must be the tensor's. */
WICK_API wick_status wick_tensor_set_grad(wick_value *tensor, const wick_value *WICK_NULLABLE grad, wick_error **error);
/* The call that made a tensor which requires grad, as PyTorch names it: "AddBackward0"; "" for others. Freed with
 * wick_text_free. */
WICK_API wick_status wick_tensor_history(const wick_value *tensor, char **out_text, wick_error **error);
/* Called by wick_backward, on its thread, with the gradient of a tensor; with a leaf's before it is added.
 * *out_replacement (NULL before) may be set to an owned tensor of the same sizes and dtype, which takes its place. A
 * status other than 0, with an error from wick_error_new or none, ends the backward. */
typedef wick_status wick_grad_hook(void *user, const wick_value *grad, wick_value **out_replacement,
                                   wick_error **error);
/* Hooks of a leaf that requires grad, or of what a recorded call made (then wick_grad calls them, too), run in the
 * order they were added, until they are cleared or the tensor, or its history, goes; `drop` (may be NULL) is then
 * called with the user's pointer, and at once on failure. Not while a backward runs. */
WICK_API wick_status wick_tensor_add_hook(wick_value *tensor, wick_grad_hook *hook,
                                          void (*WICK_NULLABLE drop)(void *user), void *user, wick_error **error);
WICK_API wick_status wick_tensor_clear_hooks(wick_value *tensor, wick_error **error);
/* The backward of a computation that wick did not record: called by wick_backward and wick_grad with the gradients of
 * its outputs, NULL where none reached one. out_grads[i] (NULL before) may be set to an owned tensor, the gradient of
 * input i. create_graph: what it computes is to be recorded. A failure as of a hook's. */
typedef wick_status wick_backward_callback(void *user, int create_graph, const wick_value *const *grads,
                                           size_t grad_count, wick_value **out_grads, size_t input_count,
                                           wick_error **error);
/* Gives `outputs`, tensors that were computed from `inputs` with grad mode off, the history of one call, called `name`
 * (wick_tensor_history), in place of any that they have. Those of integral dtype, and those whose bit stands in
 * not_differentiable, stay as they are; leaves that require grad are refused. `drop` (may be NULL) is called with
 * `user` when the history goes, and at once on failure. */
WICK_API wick_status wick_record(const char *name, wick_backward_callback *backward, void (*WICK_NULLABLE drop)(void *),
                                 void *user, const wick_value *const *inputs, size_t input_count,
                                 const wick_value *const *outputs, size_t output_count, uint64_t not_differentiable,
                                 wick_error **error);
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

/* ---- training ----
 * wick_module_parameters(module, &parameters, NULL);
 * wick_optimizer_options options = {.size = sizeof options, .algorithm = WICK_ADAM, .rate = 1e-3};
 * wick_optimizer_new(parameters, &options, &optimizer, NULL);
 * for each batch: wick_optimizer_zero_grad(optimizer, NULL); ... wick_backward(...);
 *   wick_optimizer_step(optimizer, NULL);
 */
/* The module's parameters that require grad, each once, depth first: a list of the tensors themselves. */
WICK_API wick_status wick_module_parameters(const wick_module *module, wick_value **out, wick_error **error);
/* Drops the gradients of all parameters. */
WICK_API wick_status wick_module_zero_grad(wick_module *module, wick_error **error);
enum { WICK_SGD = 1, WICK_ADAM = 2, WICK_ADAMW = 3 };
/* Defaults are PyTorch's: SGD without momentum; Adam's betas 0.9 and 0.999, eps 1e-8; AdamW's weight_decay 0.01. */
typedef struct wick_optimizer_options {
  uint32_t size;
  uint32_t algorithm;    /* WICK_SGD, WICK_ADAM, WICK_ADAMW */
  double rate;           /* the learning rate; above 0 */
  double momentum;       /* SGD */
  double dampening;      /* SGD */
  uint32_t nesterov;     /* SGD; needs momentum and no dampening */
  uint32_t amsgrad;      /* Adam, AdamW */
  double weight_decay;   /* 0 or more; AdamW: 0 is 0.01, below 0 is none */
  double beta1, beta2;   /* Adam, AdamW: within [0, 1); 0: 0.9 and 0.999 */
  double eps;            /* Adam, AdamW; 0: 1e-8 */
  wick_runtime *runtime; /* may be NULL */
} wick_optimizer_options;
typedef struct wick_optimizer wick_optimizer; /* counted; used by one thread at a time */
/* `parameters` is a list of tensors, as wick_module_parameters gives it: leaves of floating dtype. */
WICK_API wick_status wick_optimizer_new(const wick_value *parameters, const wick_optimizer_options *options,
                                        wick_optimizer **out, wick_error **error);
WICK_API wick_optimizer *wick_optimizer_retain(wick_optimizer *optimizer);
WICK_API void wick_optimizer_release(wick_optimizer *optimizer); /* NULL is allowed */
/* One step on the parameters that have a gradient, in place. */
WICK_API wick_status wick_optimizer_step(wick_optimizer *optimizer, wick_error **error);
WICK_API wick_status wick_optimizer_zero_grad(wick_optimizer *optimizer, wick_error **error);
WICK_API wick_status wick_optimizer_set_rate(wick_optimizer *optimizer, double rate, wick_error **error);

#ifdef __cplusplus
}
#endif
#endif
