/* The walk over recorded calls: backward and grad. */
#pragma once

#include "call/exec.h"

typedef struct BackwardOptions {
  bool retain_graph, create_graph, allow_unused;
} BackwardOptions;

/* Adds to the .grad of the leaves. grads[i] may be NULL for tensors of one element. */
Status autograd_backward(Exec *exec, size_t count, Tensor *const *outputs, Tensor *const *grads,
                         BackwardOptions options) MUST_CHECK;
/* out[i]: the gradient of inputs[i], owned; NULL where there is none and allow_unused. */
Status autograd_grad(Exec *exec, size_t count, Tensor *const *outputs, Tensor *const *grads, size_t input_count,
                     Tensor *const *inputs, BackwardOptions options, Tensor **out) MUST_CHECK;
