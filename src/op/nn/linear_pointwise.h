/* wick::linear_pointwise's activations, for the pass that makes it. */
#pragma once

#include "call/operator.h"

/* Pointwise operators of one tensor; what else they take are numbers and texts. */
#define LINEAR_ACTIVATIONS(X) \
  X(relu)                     \
  X(relu6)                    \
  X(hardtanh)                 \
  X(gelu)                     \
  X(silu)                     \
  X(sigmoid)                  \
  X(tanh)                     \
  X(hardswish)                \
  X(hardsigmoid)              \
  X(leaky_relu)               \
  X(elu)

/* By its name without aten::, in place ("relu_") or not. NULL: it is none of them. */
OpRef *linear_activation(Str name);
